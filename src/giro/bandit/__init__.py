"""Decide now, learn later: a bandit with named arms for your own program."""

from giro.bandit.bandit import Bandit
from giro.bandit.event import Decision

__all__ = ["Bandit", "Decision"]
