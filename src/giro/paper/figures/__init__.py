"""The figures of `giro theory`: one file a command, from plain numbers."""
