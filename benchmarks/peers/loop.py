"""The loop that every peer is timed in; runs in the peer's own environment, without giro."""

import json
import random
import sys
import time
from collections.abc import Callable
from typing import NamedTuple


class Peer(NamedTuple):
    """A policy of another library, ready for the first round."""

    choose: Callable[[], int]
    learn: Callable[[int, int], object]


def main(policies: dict[str, Callable[[list[float]], Peer]]) -> None:
    """Play policies once; print as JSON, by policy, rounds per second and regret.

    The arguments are the means as JSON, the rounds, and which policies.
    """
    means, rounds = json.loads(sys.argv[1]), int(sys.argv[2])
    print(json.dumps({name: play(policies[name](means), means, rounds) for name in sys.argv[3:]}))


def play(peer: Peer, means: list[float], rounds: int) -> dict[str, float]:
    """Return rounds per second of processor time, and the regret."""
    regret, best = 0.0, max(means)
    began = time.process_time()
    for _ in range(rounds):
        arm = peer.choose()
        peer.learn(arm, int(random.random() < means[arm]))
        regret += best - means[arm]
    return {"rounds_per_second": rounds / (time.process_time() - began), "regret": regret}
