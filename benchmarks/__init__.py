"""What Seatrial promises of time and memory, measured beside what a user would pick instead."""
