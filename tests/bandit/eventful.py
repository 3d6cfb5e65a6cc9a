"""A bandit to which everything has happened, and what it does next."""

from typing import Any

from bandit.clock import Clock, counted

from giro import Bandit


def eventful(policy: Any = "epsilon-greedy:epsilon=0.2", **rest: Any) -> Bandit:
    """Return a bandit to which everything has happened."""
    clock = Clock()
    options: dict[str, Any] = {"seed": 5, "reward_range": (-1, 3), "floor": 0.05}
    options |= {"clock": clock, "ids": counted()} | rest
    bandit = Bandit(["red", "green", "blue ♥"], policy, **options)
    for i in range(40):
        clock.now += 1 / 3
        decision = bandit.decide(
            {"page": "abc"[i % 3], "age": i / 7},
            arms=["red", "green"] if i % 5 == 0 else None,
            id=f"request {i}" if i % 4 == 0 else None,
        )
        if i % 3:
            bandit.reward(decision.id, -1 + (i % 5))
        if i == 20:
            bandit.add_arm("late")
        if i == 29:
            bandit.expire(older_than=5.0, reward=1.0)
            bandit.retire_arm("red")
            bandit.add_arm("red")
    return bandit


def futures(bandit: Bandit) -> list[tuple[str, str, float | None]]:
    """Return what the bandit would do next, whatever comes."""
    bandit._follower.clock, bandit._new_id = Clock(5_000.0), counted("next ")
    done = []
    for i in range(12):
        decision = bandit.decide(
            {"page": "z", "age": 1}, arms=["green", "late"] if i % 4 == 3 else None
        )
        done.append((decision.id, decision.arm, decision.propensity))
        if i % 2:
            bandit.reward(decision.id, i / 4)
    return done
