"""The pytest plugin of the safety face."""
