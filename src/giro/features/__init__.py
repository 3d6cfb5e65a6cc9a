"""Features: everything that is known of rounds and arms, and how it becomes rows of numbers."""

from giro.features.columns import Columns, declared
from giro.features.hashed import Hashed
from giro.features.schema import Arms, RawOffer, Schema
from giro.features.walk import Given

__all__ = ["Arms", "Columns", "Given", "Hashed", "RawOffer", "Schema", "declared"]
