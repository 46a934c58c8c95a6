"""The `kensa` command."""
