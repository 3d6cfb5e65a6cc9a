"""Kernels in CUDA C: whole runs of contextual policies, many at once."""
