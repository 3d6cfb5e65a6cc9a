"""Decision trees on binned contexts."""
