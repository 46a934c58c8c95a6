"""The evals face."""
