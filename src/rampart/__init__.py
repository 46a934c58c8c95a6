"""The safety face."""
