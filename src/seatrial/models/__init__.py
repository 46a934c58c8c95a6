"""Language models: which to ask, and how."""
