"""Kernels: small compiled functions of arrays, numbers and an rng."""
