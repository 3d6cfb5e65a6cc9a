"""How often each entry of a history is drawn: the law of Algorithm 3's resampling."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from laws import assert_follows
from scipy.stats import binom, multinomial

from giro.kernels.giro.pseudo_rewards import ONE, REAL, ZERO, draw_counts, weights_and_totals
from giro.seeds import stream

DRAWS = 20_000


def drawn(s: int, a: float, seed: int) -> list[np.ndarray]:
    """Return many draws of the counts of s contexts."""
    rng, counts = stream(seed), np.empty((s, 3), np.int32)
    found = []
    for _ in range(DRAWS):
        draw_counts(counts, a, rng)
        found.append(counts.copy())
    return found


def law(s: int, k: int) -> dict[tuple[int, ...], float]:
    """Return the probability of each table of counts with k pseudo rewards of each kind."""
    n = s + 2 * k
    cells = np.tile([1.0, k / s, k / s], s) / n
    tables = [table for table in product(range(n + 1), repeat=3 * s) if sum(table) == n]
    return {table: float(multinomial.pmf(table, n, cells)) for table in tables}


def assert_tables_follow(tables: list[np.ndarray], wanted: dict[tuple[int, ...], float]) -> None:
    outcomes = list(wanted)
    number = {table: i for i, table in enumerate(outcomes)}
    assert_follows(
        [number[tuple(table.ravel().tolist())] for table in tables],
        [wanted[table] for table in outcomes],
    )


def test_one_context_with_a_1_has_three_equally_likely_entries(seed: int) -> None:
    assert_tables_follow(drawn(1, 1.0, seed), law(1, 1))


def test_two_contexts_without_pseudo_rewards_are_an_ordinary_bootstrap(seed: int) -> None:
    assert_tables_follow(drawn(2, 0.0, seed), {t: p for t, p in law(2, 0).items() if p > 0.0})


def test_with_real_a_the_number_of_pseudo_rewards_is_rounded_at_random(seed: int) -> None:
    few, more = law(2, 0), law(2, 1)  # a s = 0.6
    wanted = {t: 0.4 * few.get(t, 0.0) + 0.6 * more.get(t, 0.0) for t in few | more}
    assert_tables_follow(drawn(2, 0.3, seed), {t: p for t, p in wanted.items() if p > 0.0})


@pytest.mark.parametrize("a", [1, 2])
def test_every_entry_of_many_is_drawn_equally_often(a: int, seed: int) -> None:
    s = 5
    tables = drawn(s, float(a), seed)
    n = s * (1 + 2 * a)
    assert all(table.sum() == n for table in tables)
    for i, kind, share in product((0, 4), (REAL, ONE, ZERO), (1,)):
        copies = share if kind == REAL else a
        counts = [int(table[i, kind]) for table in tables]
        assert_follows(counts, binom.pmf(np.arange(n + 1), n, copies / n))


def test_two_entries_are_drawn_as_often_together_as_a_multinomial_says(seed: int) -> None:
    tables = drawn(3, 1.0, seed)
    n = 9
    together = Counter(int(table[0, REAL] + table[2, ZERO]) for table in tables)
    draws = [value for value, count in together.items() for _ in range(count)]
    assert_follows(draws, binom.pmf(np.arange(n + 1), n, 2 / 9))


def test_drawing_the_context_and_then_its_kind_with_one_in_three_would_fail(seed: int) -> None:
    rng, tables = stream(seed), []
    for _ in range(DRAWS):  # right for a = 1; wrong here, where a s = 1 for two contexts
        table = np.zeros((2, 3), np.int64)
        for _ in range(4):
            table[int(rng.random() * 2), int(rng.random() * 3)] += 1
        tables.append(table)
    with pytest.raises(AssertionError, match="p ="):
        assert_tables_follow(tables, law(2, 1))


def test_weights_and_totals_count_draws_and_add_up_rewards() -> None:
    counts = np.array([[2, 1, 3], [0, 0, 0], [1, 0, 0]], np.int32)
    rewards = np.array([9.0, 0.25, 1.0, 0.5])
    weight, total = weights_and_totals(counts, rewards, np.array([1, 2, 3]))
    assert weight.tolist() == [6.0, 0.0, 1.0]
    assert total.tolist() == [1.5, 0.0, 0.5]
