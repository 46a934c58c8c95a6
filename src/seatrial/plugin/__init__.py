"""The pytest plugin of the engine."""
