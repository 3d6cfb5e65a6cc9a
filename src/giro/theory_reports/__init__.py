"""What `giro theory` finds: one file a command, numbers first, nothing printed."""

from giro.errors import needs_extra

with needs_extra("giro theory", "matplotlib", extra="plots"):
    import matplotlib as _  # noqa: F401  # all modules here use it
