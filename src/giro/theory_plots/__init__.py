"""The figures of `giro theory`: one file a command, from plain numbers."""

from giro.errors import needs_extra

with needs_extra("a figure", "matplotlib", extra="plots"):
    import matplotlib as _  # noqa: F401  # all modules here use it
