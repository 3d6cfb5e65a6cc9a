"""Decide now, learn later: a bandit with named arms for a program of your own."""

from giro.bandit.bandit import Bandit
from giro.bandit.event import Decision

__all__ = ["Bandit", "Decision"]
