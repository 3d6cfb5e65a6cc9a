"""Experiments as plain data, run so that nothing is computed twice, and what they show."""
