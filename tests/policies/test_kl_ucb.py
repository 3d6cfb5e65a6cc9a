"""KL-UCB: the divergence, the index, and the arm it picks without computing all of them."""

import math
from typing import Any

import numpy as np
import pytest
from laws import assert_follows
from policies.choosing import NO_CASE, choice_counts, shape_for, some_arms
from scipy.optimize import brentq
from scipy.special import kl_div

from giro.compiling import plain
from giro.errors import BadParameter
from giro.offer import offer_of
from giro.policies.kl_ucb import KlUcb, _choose, _State, kl, kl_upper
from giro.seeds import stream

UNTIED = np.empty(0)
MEANS = [0.0, 1e-9, 0.001, 0.1, 1 / 3, 0.5, 0.9, 0.999, 1 - 1e-9, 1.0]
LEVELS = [1e-12, 1e-6, 1e-3, 0.05, 0.7, 3.0, 20.0]


def naive_indices(pulls: np.ndarray, total: np.ndarray, c: float) -> np.ndarray:
    t = pulls.sum() + 1
    budget = math.log(t) + c * max(0.0, math.log(math.log(t))) if t > 1 else 0.0
    counts = zip(pulls, total, strict=True)
    return np.array([kl_upper(y / n, budget / n) if n > 0 else np.inf for n, y in counts])


def random_counts(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return pulls and ones of a few arms, often equal, sometimes untried, all 0 or all 1."""
    n_arms, scale = int(rng.integers(1, 8)), int(10 ** rng.uniform(0.3, 3.5))
    pulls = rng.integers(rng.integers(0, 2), scale + 1, n_arms)
    total = rng.binomial(pulls, rng.choice([0.0, 0.2, 0.5, 0.97, 1.0], n_arms)).astype(float)
    twin = rng.integers(0, n_arms, n_arms)
    copies = rng.random(n_arms) < 0.4
    return np.where(copies, pulls[twin], pulls), np.where(copies, total[twin], total)


@pytest.mark.parametrize("c", [0.0, 3.0, 60.0])
def test_the_arm_is_the_one_with_the_highest_of_all_indices(c: float, seed: int) -> None:
    rng = stream(seed)
    for _ in range(1_000):
        pulls, total = random_counts(rng)
        ranking = rng.permutation(pulls.size).astype(float)
        indices = naive_indices(pulls, total, c)
        tied = np.flatnonzero(indices == indices.max())
        state = _State(pulls, total, c, ranking)
        offer = offer_of(pulls.size)
        assert _choose(state, offer, rng) == tied[ranking[tied].argmax()]
        assert _choose(state._replace(ranking=UNTIED), offer, rng) in tied


def test_arms_that_are_not_on_offer_are_as_if_they_were_not_there(seed: int) -> None:
    rng = stream(seed)
    for _ in range(1_000):
        pulls, total = random_counts(rng)
        arms = np.flatnonzero(rng.random(pulls.size) < 0.6)
        if arms.size == 0:
            continue
        ranking = rng.permutation(pulls.size).astype(float)
        indices = naive_indices(pulls[arms], total[arms], 3.0)
        tied = arms[indices == indices.max()]
        state = _State(pulls, total, 3.0, ranking)
        assert _choose(state, some_arms(arms.tolist()), rng) == tied[ranking[tied].argmax()]


def test_the_index_is_where_the_divergence_uses_up_the_budget() -> None:
    pulls, total, t = np.array([5, 90]), np.array([2.0, 61.0]), 96
    budget = math.log(t) + 3 * math.log(math.log(t))
    for n, y, index in zip(pulls, total, naive_indices(pulls, total, 3.0), strict=True):
        found = brentq(lambda q, n=n, y=y: n * kl(y / n, q) - budget, y / n, 1 - 1e-15, xtol=1e-15)
        assert index == pytest.approx(found, abs=1e-14)


def test_most_indices_are_not_computed(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    body, calls = plain(_choose), []
    index = body.__globals__["_index"]

    def spy(*arguments: Any) -> Any:
        calls.append(1)
        return index(*arguments)

    monkeypatch.setitem(body.__globals__, "_index", spy)
    pulls = np.array([9_000, 120, 60, 40, 33])
    total = np.array([6_300.0, 55.0, 20.0, 9.0, 6.0])
    assert body(_State(pulls, total, 3.0, UNTIED), offer_of(5), stream(seed)) == 0
    assert len(calls) == 1


def test_tied_arms_are_pulled_equally_often(seed: int) -> None:
    histories = [[1, 0, 0], [1, 1, 0, 1], [1, 0, 0], [], [0, 1, 0]]
    tried = [history for history in histories if history != [1, 1, 0, 1] and history]
    counts = choice_counts(KlUcb(), tried, draws=20_000, seed=seed)
    assert_follows(np.repeat(np.arange(3), counts), [1 / 3] * 3)
    assert choice_counts(KlUcb(), histories, draws=100, seed=seed).tolist() == [0, 0, 0, 100, 0]


def test_real_rewards_are_rounded_to_zero_or_one(seed: int) -> None:
    rng = stream(seed)
    state = KlUcb().start(shape_for(1, 20_000), rng)
    learned = []
    for _ in range(20_000):
        before = state.total[0]
        plain(KlUcb.learn)(state, NO_CASE, 0, 0.3, rng)
        learned.append(int(state.total[0] - before))
    assert_follows(learned, [0.7, 0.3])


@pytest.mark.parametrize("c", [-0.1, math.inf, math.nan])
def test_c_is_finite_and_not_negative(c: float) -> None:
    with pytest.raises(BadParameter, match="kl-ucb needs a finite c >= 0"):
        KlUcb(c)


def reference_kl(p: float, q: float) -> float:
    return float(kl_div(p, q) + kl_div(1 - p, 1 - q))


@pytest.mark.parametrize("p", MEANS)
@pytest.mark.parametrize("q", [1e-6, 0.2, 0.5, 0.77, 1 - 1e-6])
def test_kl_is_the_divergence_of_two_bernoulli_laws(p: float, q: float) -> None:
    assert kl(p, q) == pytest.approx(reference_kl(p, q), rel=1e-13, abs=1e-16)


def test_kl_is_infinite_at_an_end_that_is_not_the_mean() -> None:
    assert kl(0.3, 1.0) == kl(0.3, 0.0) == kl(0.0, 1.0) == np.inf
    assert kl(0.0, 0.0) == kl(1.0, 1.0) == 0.0


def test_kl_keeps_its_digits_close_to_the_mean() -> None:
    p, gap = 0.25, 2.0**-30  # a series of kl in the gap is exact here
    series = gap**2 / (2 * p * (1 - p)) - gap**3 / 6 * (1 / p**2 - 1 / (1 - p) ** 2)
    assert kl(p, p + gap) == pytest.approx(series, rel=1e-5, abs=0)
    assert reference_kl(p, p + gap) != pytest.approx(series, rel=0.5, abs=0)


@pytest.mark.parametrize("p", MEANS)
@pytest.mark.parametrize("level", LEVELS)
def test_kl_upper_is_where_the_divergence_reaches_the_level(p: float, level: float) -> None:
    bound = kl_upper(p, level)
    if p == 1.0:
        assert bound == 1.0
    elif p == 0.0:
        assert bound == pytest.approx(-math.expm1(-level), rel=1e-14, abs=0)
    elif kl(p, 1 - 2**-53) <= level:
        assert bound == pytest.approx(1.0, abs=4e-16)
    else:
        found = brentq(lambda q: kl(p, q) - level, p, 1 - 2**-53, xtol=1e-300, rtol=9e-16)
        assert bound == pytest.approx(found, rel=4e-15, abs=0)


def test_kl_upper_of_level_zero_is_the_mean() -> None:
    assert [kl_upper(p, 0.0) for p in MEANS] == MEANS
    assert kl_upper(0.3, 1e-45) == 0.3


def test_kl_upper_needs_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[float] = []
    body = plain(kl_upper)

    def spy(p: float, q: float) -> float:
        calls.append(q)
        return kl(p, q)

    monkeypatch.setitem(body.__globals__, "kl", spy)
    for p in MEANS:
        for level in LEVELS:
            calls.clear()
            body(p, level)
            assert len(calls) <= 12
