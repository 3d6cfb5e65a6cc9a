"""Sub-sampling duels: who wins, and that winners wait their turn."""

import math
from typing import Any

import numpy as np
import pytest
from laws import p_value_of_same_counts
from policies.choosing import NO_CASE, informed, shape_for, some_arms

from giro.compiling import plain
from giro.errors import BadParameter
from giro.policies.sda import Sda, _choose, _duel, _learn
from giro.policy import start
from giro.seeds import stream

CHOOSE, DUEL, LEARN = plain(_choose), plain(_duel), plain(_learn)
BINARY = [[1, 0, 0, 1, 1, 0, 1, 1], [0, 1], [1, 0, 0, 1, 1], [0]]
REAL = [[0.3, 0.9, 0.5, 0.7, 0.2, 0.8], [0.5, 0.6], [0.25, 0.75, 0.8], [0.4]]
DRAWS = 3_000


def literal_winners(
    histories: list[list[float]], block: str, leader: int, duels: int, rng: np.random.Generator
) -> set[int]:
    """Return the arms to pull by Baudry et al. (2020), Algorithm 1, and Chan (2020)."""
    first, winners = np.array(histories[leader]), set()
    forced = math.sqrt(math.log(duels)) if block in ("last", "worst") else 0.0
    for arm, history in enumerate(histories):
        n, m = len(history), first.size
        if arm == leader:
            continue
        starts = range(m - n + 1)
        means = [first[i : i + n].mean() for i in starts] if n else [0.0]
        bar = {
            "random": means[int(rng.integers(len(means)))],
            "last": means[-1],
            "worst": min(means),
            "sample": rng.choice(first, n, replace=False).mean() if n else 0.0,
        }[block]
        if n == 0 or (n < forced and n < m) or np.mean(history) >= bar - 1e-9:
            winners.add(arm)
    return winners or {leader}


def waiting(state: Any) -> set[int]:
    return set(np.flatnonzero(state.waiting).tolist())


def as_number(arms: set[int]) -> int:
    return sum(1 << arm for arm in arms)


@pytest.mark.parametrize("histories", [BINARY, REAL], ids=["binary", "real"])
@pytest.mark.parametrize("block", ["random", "sample"])
def test_duels_compare_with_blocks_and_samples_of_the_right_law(
    block: Any, histories: list[list[float]], seed: int
) -> None:
    state, rng = informed(Sda(block), histories, stream(seed)), stream(seed, 1)
    arms, counts = np.arange(4), np.zeros((3, 16), np.int64)
    wrong = [[*histories[0][:-1], 0], *histories[1:]]
    for _ in range(DRAWS):
        DUEL(state, arms, rng)
        counts[0, as_number(waiting(state))] += 1
        for row, literal in enumerate((histories, wrong), start=1):
            counts[row, as_number(literal_winners(literal, block, 0, 1, rng))] += 1
    assert p_value_of_same_counts(counts[0], counts[1]) > 1e-6
    assert p_value_of_same_counts(counts[0], counts[2]) < 1e-6


@pytest.mark.parametrize("block", ["last", "worst"])
@pytest.mark.parametrize("fractional", [False, True], ids=["binary", "real"])
def test_a_whole_run_has_the_winners_of_the_literal_algorithm(
    block: Any, fractional: bool, seed: int
) -> None:
    rng, n_arms, rounds = stream(seed), 4, 400
    state = start(Sda(block), shape_for(n_arms, rounds), rng)
    histories: list[list[float]] = [[] for _ in range(n_arms)]
    for _ in range(rounds):
        begins = not state.waiting.any()
        arm = CHOOSE(state, some_arms(n_arms), rng)
        if begins:
            leader, duels = state.last.tolist()
            won = literal_winners(histories, block, leader, duels, rng)
            assert waiting(state) == won | ({leader} if not histories[leader] else set())
            most = max(map(len, histories))
            assert len(histories[leader]) == most
        assert arm in waiting(state)
        reward = (
            rng.random() * (0.5 + arm / 8) if fractional else float(rng.random() < 0.3 + arm / 9)
        )
        LEARN(state, NO_CASE, arm, reward, rng)
        histories[arm].append(reward)
        assert arm not in waiting(state)


def test_winners_wait_until_they_are_rewarded_and_only_then_arms_duel_again(seed: int) -> None:
    state, rng = informed(Sda("last"), [[0, 0, 1, 0], [1], [0], [1]], stream(seed)), stream(seed, 1)
    drawn = {CHOOSE(state, some_arms(4), rng) for _ in range(60)}
    assert drawn == waiting(state) == {1, 2, 3}
    assert state.last[1] == 1
    LEARN(state, NO_CASE, 3, 1.0, rng)
    assert {CHOOSE(state, some_arms(4), rng) for _ in range(60)} == {1, 2}
    assert {CHOOSE(state, some_arms([0, 3]), rng) for _ in range(9)} == {3}, "others duel meanwhile"
    assert state.last[1] == 2


def test_of_equally_pulled_arms_the_better_one_leads_and_of_equals_the_last_leader(
    seed: int,
) -> None:
    better = informed(Sda(), [[0, 1], [1, 1], [0, 0]], stream(seed))
    DUEL(better, np.arange(3), stream(seed, 1))
    assert better.last[0] == 1
    equal = informed(Sda(), [[0, 1], [1, 0], [1, 0]], stream(seed))
    leaders = set()
    for number in range(30):
        equal.last[0] = -1
        DUEL(equal, np.arange(3), stream(seed, number))
        leader = int(equal.last[0])
        DUEL(equal, np.arange(3), stream(seed, 100 + number))
        assert equal.last[0] == leader
        leaders.add(leader)
    assert leaders == {0, 1, 2}


def test_unknown_blocks_are_refused() -> None:
    with pytest.raises(BadParameter, match="random, last, sample, worst, got block='best'"):
        Sda("best")  # type: ignore[arg-type]  # it is refused
