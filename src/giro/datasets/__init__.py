"""Data sets as arrays: the paper's three, your own files, and how columns are scaled."""

from giro.datasets.dataset import Dataset
from giro.datasets.shipped import load

__all__ = ["Dataset", "load"]
