"""Views of a run."""
