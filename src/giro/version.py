"""The version of the package, part of every result file."""

__version__ = "0.2.0"
