"""Decide now, learn later: a bandit with named arms for your own program."""

from giro.bandit.alarms import Alarm
from giro.bandit.asking import Ask
from giro.bandit.bandit import Bandit
from giro.bandit.deciding import Slot
from giro.bandit.event import Decision
from giro.bandit.records import Record, Records

__all__ = ["Alarm", "Ask", "Bandit", "Decision", "Record", "Records", "Slot"]
