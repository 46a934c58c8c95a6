"""The engine of Seatrial: trials, verdicts, traces and reports, shared by both faces."""
