"""The hashes see what they should."""

from typing import Any

import numpy as np
import pytest
from golden import pairs

from giro import Policy, Problem
from giro.simulation.play import Record, play_run

UCB1, BERNOULLI = Policy.parse("ucb1"), Problem.parse("bernoulli")


def test_another_arm_or_a_last_bit_is_another_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    def hashes_after(part: str, place: int, change: Any) -> dict[str, str]:
        def played(*given: Any, **rest: Any) -> Record:
            record = play_run(*given, **rest)
            values = getattr(record, part)
            values[place] = change(values[place])
            return record

        monkeypatch.setattr(pairs, "play_run", played)
        return pairs.hashes_of(UCB1, BERNOULLI)

    before = pairs.hashes_of(UCB1, BERNOULLI)
    assert pairs.hashes_of(UCB1, BERNOULLI) == before
    for part, change in (
        ("arms", lambda arm: arm ^ 1),
        ("regret", lambda value: np.nextafter(value, np.inf)),
        ("reward", lambda value: value + 1.0),
    ):
        after = hashes_after(part, -1, change)
        assert {name for name in before if after[name] != before[name]} == {part}


def test_every_policy_problem_and_model_is_among_the_pairs() -> None:
    played = list(pairs.pairs().values())
    assert {policy.name for policy, _ in played} == set(Policy.known())
    assert {problem.name for _, problem in played} == set(Problem.known())
