"""Data sets as arrays: the paper's three, your own files, and the scaling of columns."""

from giro.datasets.dataset import Dataset, load

__all__ = ["Dataset", "load"]
