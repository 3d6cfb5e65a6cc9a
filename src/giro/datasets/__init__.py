"""Data sets as arrays: the paper's three, your own files, and how columns are scaled."""

from giro.datasets.dataset import Dataset, load

__all__ = ["Dataset", "load"]
