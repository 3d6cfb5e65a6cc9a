"""Columns of any size and unit become like each other, by what was learned alone."""

import math
from typing import Any

import numpy as np
import pytest
from contract.games import ROUNDS, Game, game
from contract.test_states import goes_on

from giro import Policy
from giro.compiling import plain
from giro.features import Columns, Schema
from giro.features.columns import NUMBER, Feature
from giro.live import LivePolicy
from giro.offer import NO_FEATURES, Offer, SparseRow
from giro.seeds import stream
from giro.standardising import FAR, no_moments, seen, standardised

POLICIES = ("lin-ucb:scale=0.5", "giro-ensemble:replicas=5", "contextual-giro")
WIDTHS = ((3, 0), (2, 2))
EVERY = np.ones(3, bool)


def some_rows(seed: int, n: int = 200) -> np.ndarray:
    """Return rows of which some numbers are missing and some are far away."""
    rng = stream(seed, 5)
    rows = rng.normal(size=(n, 3)) * [1.0, 1e6, 1e-6] + [1000.0, 0.0, 0.0]
    rows[rng.random(rows.shape) < 0.1] = math.nan
    rows[rng.random(rows.shape) < 0.02] = 1e18
    rows[0, 0], rows[:5, 2] = math.nan, 3e-6
    return rows


def twin(known_rows: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return rows standardised by those seen, written plainly: far values are moved in turn."""
    result = np.empty(rows.shape)
    for j in range(rows.shape[1]):
        known: list[float] = []
        for x in known_rows[~np.isnan(known_rows[:, j]), j]:
            mean, far = (np.mean(known), FAR * np.std(known)) if known else (0.0, 0.0)
            known.append(float(np.clip(x, mean - far, mean + far)) if far > 0.0 else float(x))
        spread = np.std(known) if len(set(known)) > 1 else 0.0
        z = (rows[:, j] - np.mean(known)) / spread if spread > 0.0 else np.zeros(len(rows))
        result[:, j] = np.where(np.isnan(z), 0.0, np.clip(z, -FAR, FAR))
    return result


@pytest.mark.parametrize("form", [standardised, plain(standardised)], ids=["compiled", "plain"])
def test_rows_are_standardised_as_the_plain_twin_does(form: Any, seed: int) -> None:
    rows = some_rows(seed)
    for n in (1, 2, 3, 10, 50, 200):
        moments = no_moments(EVERY)
        form(moments, rows[:n].ravel(), True)
        found = form(moments, rows.ravel(), False).reshape(rows.shape)
        assert np.allclose(found, twin(rows[:n], rows), rtol=1e-6, atol=1e-6)


def test_compiled_and_plain_are_the_same_bit_for_bit_and_so_are_one_and_many(seed: int) -> None:
    rows = some_rows(seed)
    many, one, slow = (no_moments(EVERY) for _ in range(3))
    at_once = standardised(many, rows.ravel(), True)
    one_by_one = np.concatenate([standardised(one, row, True) for row in rows])
    slowly = plain(standardised)(slow, rows.ravel(), True)
    assert at_once.tobytes() == one_by_one.tobytes() == slowly.tobytes()
    assert many.tobytes() == one.tobytes() == slow.tobytes()


def test_columns_that_are_not_standardised_stay_and_gaps_are_zero() -> None:
    moments = no_moments(np.array([False, True, False]))
    rows = np.array([[7.0, 7.0, math.nan], [0.0, 9.0, 1.0], [1.0, math.nan, 0.0]])
    found = standardised(moments, rows.ravel(), True).reshape(rows.shape)
    assert found.tolist() == [[7.0, 0.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]


@pytest.mark.parametrize("shift", [0.0, 1e9, -1e140])
def test_a_column_without_spread_is_zero(shift: float) -> None:
    moments = no_moments(np.ones(1, bool))
    values = np.full(9, 0.1) + shift
    assert not standardised(moments, values, True).any()
    assert not standardised(moments, np.array([5.0, -1e100]), False).any()


def test_one_value_far_away_spoils_nothing(seed: int) -> None:
    values = stream(seed).normal(size=2_000)
    values[1_000] = 1e150
    found = standardised(no_moments(np.ones(1, bool)), values, True)
    assert found[1_000] == FAR
    assert 0.9 < np.std(found[1_500:]) < 1.1


def test_rows_are_seen_standardised_unless_there_are_no_moments_or_they_are_sparse() -> None:
    moments, rows = no_moments(EVERY), some_rows(1, 50)
    seen(rows, moments, True)
    whole = seen(rows, moments, False)
    assert whole.shape == rows.shape
    assert whole.ravel().tolist() == standardised(moments, rows.ravel(), False).tolist()
    assert seen(rows[3], moments, False).tolist() == whole[3].tolist()
    assert seen(rows, no_moments(np.empty(0)), True) is rows
    assert seen(NO_FEATURES, moments, True) is NO_FEATURES
    sparse = SparseRow(np.array([7]), np.array([1e9]))
    assert plain(seen)(sparse, no_moments(np.empty(0)), True) is sparse


def raw(seed: int, widths: tuple[int, int]) -> tuple[Game, Schema]:
    """Return a game in other units, with gaps, and a schema; the first column is of a word."""
    rng, of = stream(seed, 6), game(*widths, fractional=True, seed=seed)
    offers = []
    for arms, context, features in of.offers:
        gaps = np.where(rng.random(context.size) < 0.2, math.nan, 1000.0 + 7.0 * context)
        offers.append(Offer(arms, gaps, np.where(features > 2.0, math.nan, 1e-6 * features)))
    numbers = [Feature(f"n{i}", NUMBER) for i in range(1, widths[0])]
    of_arms = Columns(widths[1]) if widths[1] else None
    schema = Schema(Columns(0, (Feature("word", 1), *numbers)), of_arms, contextual=True)
    assert [part.tolist() for part in schema.standardised] == [
        [i > 0 for i in range(widths[0])],
        [True] * widths[1],
    ]
    return of._replace(offers=offers), schema


def live_of(policy: Policy, of: Game, schema: Schema, seed: int, **sizes: Any) -> LivePolicy:
    """Return a live policy that has room for a game, or less."""
    shape = of.shape._replace(**sizes)
    return LivePolicy(
        policy,
        schema,
        n_arms=shape.n_arms,
        seed=seed,
        rounds=shape.rounds,
        capacity=shape.capacity,
    )


@pytest.mark.parametrize("widths", WIDTHS, ids=str)
@pytest.mark.parametrize("text", POLICIES)
def test_a_live_policy_with_raw_numbers_plays_on_after_it_grew_and_was_read_again(
    text: str, widths: tuple[int, int], seed: int
) -> None:
    policy, (of, schema) = Policy.parse(text), raw(seed, widths)
    straight = live_of(policy, of, schema, seed)
    live, rng, begin = live_of(policy, of, schema, seed, n_arms=2, capacity=1), stream(seed, 7), 0
    for end in (*sorted(rng.integers(0, ROUNDS, 4).tolist()), ROUNDS):
        assert goes_on(live, of, range(begin, end)) == goes_on(straight, of, range(begin, end))
        snapshot = live.snapshot()
        assert snapshot is not None
        again = LivePolicy.from_snapshot(policy, schema, *snapshot, seed=seed)
        assert again is not None
        live, begin = again, end
    assert snapshot is not None
    bare = schema._replace(standardise=False)  # with which it plays differently
    assert LivePolicy.from_snapshot(policy, bare, *snapshot, seed=seed) is None


@pytest.mark.parametrize("widths", WIDTHS, ids=str)
@pytest.mark.parametrize("text", POLICIES)
def test_learning_all_at_once_is_learning_one_by_one(
    text: str, widths: tuple[int, int], seed: int
) -> None:
    policy, (of, schema) = Policy.parse(text), raw(seed, widths)
    one, many = (live_of(policy, of, schema, seed) for _ in range(2))
    arms = np.array([offer.arms[-1] for offer in of.offers])
    cases = [of.case(t, arm) for t, arm in enumerate(arms)]
    rewards = of.rewards[np.arange(arms.size), arms]
    for case, arm, reward in zip(cases, arms, rewards, strict=True):
        one.learn(case, int(arm), float(reward))
    contexts = np.array([case.context for case in cases])
    features = np.array([case.features for case in cases])
    many.learn_all(contexts, features, arms, rewards)
    for left, right in zip(one._moments, many._moments, strict=True):
        assert left.tobytes() == right.tobytes()
    assert goes_on(one, of, range(ROUNDS)) == goes_on(many, of, range(ROUNDS))


@pytest.mark.parametrize("text", POLICIES)
def test_units_change_nothing(text: str, seed: int) -> None:
    """Powers of two, which no rounding can tell apart."""
    of = game(3, 0, fractional=True, seed=seed)
    offers = [offer._replace(context=offer.context * 2.0**20) for offer in of.offers]
    played = [
        goes_on(
            live_of(Policy.parse(text), of, Schema.of_numbers(3), seed),
            of._replace(offers=each),
            range(ROUNDS),
        )
        for each in (of.offers, offers)
    ]
    assert played[0] == played[1]
