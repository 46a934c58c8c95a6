"""The command line of the evals face."""
