"""Auto's members are weighed and fitted as by a plain twin; run by test_auto.py, uncompiled."""

import math
from typing import Any

import numpy as np
import pytest

from giro.kernels.memory import exchange, half_life_memory, note_row
from giro.kernels.regression.rows import Rows, append_row, empty_rows, positions_of
from giro.model import Sample, partial_fit, refit, start, value
from giro.models.auto import Auto
from giro.models.extra_trees import ExtraTrees
from giro.models.linear import Linear
from giro.models.tree import Tree
from giro.seeds import stream

MEMBERS = (Linear(), ExtraTrees(trees=2), Tree(depth=2))  # incremental, online, refitted
D, SLOTS = 3, 2


class PlainAuto:
    """Members side by side, each asked before it learns; `fits` counts what it was shown."""

    def __init__(self, model: Auto, capacity: int, rng: np.random.Generator) -> None:
        self.model = model
        self.states = [start(each, SLOTS, D, capacity, rng) for each in model.members]
        self.losses = np.zeros(len(self.states))
        self.fits: list[list[list[int]]] = [[[] for _ in self.states] for _ in range(SLOTS)]
        self.was_losing = [[False for _ in self.states] for _ in range(SLOTS)]  # when last fitted

    @property
    def shares(self) -> np.ndarray:
        weights = [math.exp(-self.model.eta * (each - min(self.losses))) for each in self.losses]
        return np.array(weights) / sum(weights)

    def judge(self, slot: int, x: np.ndarray, reward: float) -> None:
        for i, state in enumerate(self.states):
            self.losses[i] += (value(state, slot, x) - reward) ** 2

    def take_in(self, slot: int, sample: Sample, rng: np.random.Generator) -> None:
        """Let each member learn that is due, with n rows, after its last fit with m of them."""
        n = sample.positions.size
        for i, (member, state) in enumerate(zip(self.model.members, self.states, strict=True)):
            fits, losing = self.fits[slot][i], self.shares[i] < 0.01
            if member.fitting == "row":
                factor = 1.0
            elif member.fitting == "history":
                factor = self.model.growth if self.was_losing[slot][i] else 1.0
            else:
                factor = 2.0 if self.was_losing[slot][i] else self.model.growth
            if not fits or n >= max(fits[-1] + 1, int(fits[-1] * factor)):
                fit = partial_fit if member.fitting in ("row", "history") else refit
                fit(state, slot, sample, rng)
                fits.append(n)
                self.was_losing[slot][i] = losing

    def expected(self, slot: int, x: np.ndarray) -> float:
        values = np.array([value(state, slot, x) for state in self.states])
        asked = self.shares >= 1e-4
        return float(np.average(values[asked], weights=self.shares[asked]))


def two_slots(n: int, seed: int, *, crossed: bool = False) -> Rows:
    """Return rows of slots at random: ones with a linear chance, or the sign of a product."""
    rng, rows = stream(seed, 5), empty_rows(SLOTS, D, n)
    for _ in range(n):
        x = np.append(rng.normal(size=2), 1.0)
        is_one = x[0] * x[1] > 0 if crossed else rng.random() < 0.5 + 0.3 * x[0]
        append_row(rows, x, int(rng.random() < 0.4), float(is_one))
    return rows


def slot_of(rows: Rows, row: int) -> int:
    return int(row in positions_of(rows, 1))


def up_to(rows: Rows, slot: int, row: int) -> Sample:
    """Return the slot's rows up to this one, each once."""
    positions = positions_of(rows, slot)
    positions = positions[: np.searchsorted(positions, row, side="right")]
    counts = np.zeros((positions.size, 3), np.int32)
    counts[:, 0] = 1
    return Sample(rows, positions, counts)


def assert_follows_twin(model: Auto, rows: Rows, seed: int) -> tuple[Any, PlainAuto]:
    """Let both learn, row by row; return them."""
    n, ours, theirs = int(rows.filled[0]), stream(seed, 1), stream(seed, 1)
    state, twin = start(model, SLOTS, D, n, ours), PlainAuto(model, n, theirs)
    for row in range(n):
        slot, x = slot_of(rows, row), rows.contexts[row]
        sample = up_to(rows, slot, row)
        if sample.positions.size > 1:  # nothing is expected before a slot's first row
            twin.judge(slot, x, float(rows.rewards[row]))
        partial_fit(state, slot, sample, ours)
        twin.take_in(slot, sample, theirs)
        np.testing.assert_allclose(state.loss, twin.losses, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(state.share, twin.shares, rtol=1e-9)
        assert value(state, slot, -x) == pytest.approx(twin.expected(slot, -x), abs=1e-9)
    return state, twin


@pytest.mark.parametrize("eta", [0.02, 0.5])
def test_shares_and_values_are_those_of_a_plain_twin(eta: float, seed: int) -> None:
    rows = two_slots(120, seed, crossed=True)
    state, twin = assert_follows_twin(Auto(members=MEMBERS, eta=eta), rows, seed)
    assert twin.shares[1] > twin.shares[0] + 0.05  # trees are right about products
    assert state.seen.tolist() == [positions_of(rows, slot).size for slot in range(SLOTS)]


def test_a_losing_member_is_fitted_less_often_unless_it_is_incremental(seed: int) -> None:
    rows = two_slots(200, seed)
    model = Auto(members=MEMBERS, eta=20.0, growth=1.3)
    _, twin = assert_follows_twin(model, rows, seed)
    assert twin.shares[0] > 0.99
    linear, trees, tree = twin.fits[0]
    n = positions_of(rows, 0).size
    assert linear == list(range(1, n + 1))  # never skips a row
    assert len(trees) < n / 2
    assert len(tree) < 15 and tree[-1] == 2 * tree[-2]
    crossed = two_slots(200, seed, crossed=True)
    _, twin = assert_follows_twin(model, crossed, seed)
    assert twin.shares[0] < 0.01
    n = positions_of(crossed, 0).size
    assert twin.fits[0][0] == list(range(1, n + 1))


def test_a_refit_judges_by_the_new_rows_and_fits_all_members(seed: int) -> None:
    rows, model = two_slots(60, seed, crossed=True), Auto(members=MEMBERS, eta=0.5)
    ours, theirs = stream(seed, 1), stream(seed, 1)
    state, twin = start(model, SLOTS, D, 60, ours), PlainAuto(model, 60, theirs)
    mine, seen = positions_of(rows, 0), 0
    for n in (5, 6, 20, 20, 30):
        sample = up_to(rows, 0, int(mine[n - 1]))
        refit(state, 0, sample, ours)
        for row in mine[max(seen, 1) : n]:
            twin.judge(0, rows.contexts[row], float(rows.rewards[row]))
        seen = n
        for member in twin.states:
            refit(member, 0, sample, theirs)
        np.testing.assert_allclose(state.share, twin.shares, rtol=1e-9)
        asked = rows.contexts[mine[n]]
        assert value(state, 0, asked) == pytest.approx(twin.expected(0, asked), abs=1e-9)
    assert state.seen.tolist() == [30, 0]


def test_members_of_next_to_no_weight_are_not_asked(seed: int) -> None:
    model = Auto(members=MEMBERS)
    state = start(model, SLOTS, D, 60, stream(seed))
    rows = two_slots(60, seed)
    partial_fit(state, 0, up_to(rows, 0, 59), stream(seed))
    each = [value(member, 0, rows.contexts[0]) for member in state.members]
    state.share[:] = [0.75, 0.25 - 5e-5, 5e-5]
    wanted = np.average(each[:2], weights=[0.75, 0.25 - 5e-5])
    assert value(state, 0, rows.contexts[0]) == pytest.approx(wanted, rel=1e-12)


# -- members -----------------------------------------------------------------------------------


def test_squared_errors_fade_with_the_rewards_of_all_slots(seed: int) -> None:
    model = Auto(members=(Linear(), Linear(penalty=50.0)), eta=1.0).forgetting(windowed=False)
    rows, rng, memory = two_slots(60, seed), stream(seed, 1), half_life_memory(10.0, kept=60)
    state, losses = start(model, SLOTS, D, 60, rng), np.zeros(2)
    for row in range(60):
        slot, x = slot_of(rows, row), rows.contexts[row]
        exchange(memory, slot, 0.0)
        note_row(memory, row)
        sample = up_to(rows, slot, row)._replace(memory=memory)
        losses *= memory.factor
        if sample.positions.size > 1:
            expected = np.array([value(member, slot, x) for member in state.members])
            losses += (expected - rows.rewards[row]) ** 2
        partial_fit(state, slot, sample, rng)
        np.testing.assert_allclose(state.loss, losses, rtol=1e-9, atol=1e-12)
