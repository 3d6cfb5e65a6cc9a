"""Policies that have learned of arms with features, and what they are offered."""

import numpy as np
from live_kernels import live_of

from giro import Policy
from giro.live import LivePolicy
from giro.offer import Case, Offer, Shape
from giro.seeds import stream

N_ARMS, CONTEXT, FEATURES, CHOICES = 4, 3, 2, 20_000
SHAPE = Shape(N_ARMS, CONTEXT, FEATURES, 100, 100)
ENSEMBLE = "giro-ensemble:model=[hashed:bits=12],replicas=6"


def informed(text: str, rows: int = 40) -> LivePolicy:
    """Return a policy that has learned from dense rows."""
    live, rng = live_of(Policy.parse(text), SHAPE, seed=3), stream(40)
    for _ in range(rows):
        case = Case(rng.normal(size=CONTEXT), rng.normal(size=FEATURES))
        live.learn(case, int(rng.integers(N_ARMS)), float(rng.random() < 0.5))
    live.stream_of(0)
    return live


def an_offer(number: int = 0) -> Offer:
    rng, arms = stream(41, number), np.array([0, 2, 3])
    return Offer(arms, rng.normal(size=CONTEXT), rng.normal(size=(3, FEATURES)))
