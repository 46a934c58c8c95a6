"""The pytest plugin of the evals face."""
