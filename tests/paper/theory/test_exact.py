"""The exact regret of small problems, and Lemma 1 next to it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper.theory import naive

from giro.errors import BadParameter
from giro.paper.theory import exact
from giro.paper.theory.choice_probabilities import bootstrap_probabilities, giro_probabilities
from giro.paper.theory.exact import (
    exact_bootstrap_regret,
    exact_giro_regret,
    exact_regret,
    linear_regret_bound,
    linear_regret_rows,
)
from giro.seeds import stream

means_of_two = st.tuples(st.floats(0, 1), st.floats(0, 1))


def naive_law(a: Fraction, ranking=None):
    return lambda pulls, ones: naive.choices(
        [naive.arm_values(a, s, v) for s, v in zip(pulls, ones, strict=True)], ranking
    )


@pytest.mark.parametrize("a", [Fraction(0), Fraction(1, 3), Fraction(1)])
def test_giro_matches_the_tree_of_all_histories(a: Fraction) -> None:
    means = [0.7, 0.2]
    tree = [naive.tree_regret(naive_law(a), means, n) for n in range(1, 5)]
    assert exact_giro_regret(means, 4, float(a)) == pytest.approx(tree)


@settings(max_examples=10, deadline=None, database=None)
@given(means=means_of_two, a=st.sampled_from([0.0, 0.1, 1.0]))
def test_merging_histories_changes_nothing(means: tuple[float, float], a: float) -> None:
    law = giro_probabilities(a)
    assert exact_regret(law, means, 5)[-1] == pytest.approx(naive.tree_regret(law, means, 5))


def test_fixed_ties_are_one_rule_for_a_whole_run() -> None:
    means = [0.6, 0.3]
    rules = [naive_law(Fraction(1), ranking) for ranking in ((0, 1), (1, 0))]
    tree = np.mean([naive.tree_regret(rule, means, 4) for rule in rules])
    assert exact_giro_regret(means, 4, ties="fixed")[-1] == pytest.approx(tree)
    assert exact_giro_regret(means, 4)[-1] != pytest.approx(tree)


def test_three_arms_match_the_tree() -> None:
    law, means = giro_probabilities(0.5), [0.2, 0.9, 0.5]
    assert exact_regret(law, means, 5)[-1] == pytest.approx(naive.tree_regret(law, means, 5))
    assert exact_giro_regret(means, 3, 0.5, "fixed")[-1] == pytest.approx(3 * 0.9 - 1.6)


def test_the_first_rounds_of_giro_by_hand() -> None:
    """Each arm once, in random order; in round 3 equal rewards make the arms equal."""
    p, q = 0.7, 0.2
    above, tied = (12 + 42 + 19) / 27**2, 160 / 27**2
    lose = above + tied / 2
    second = (p * q + (1 - p) * (1 - q)) / 2 + p * (1 - q) * lose + (1 - p) * q * (1 - lose)
    exact = np.array([0.5, 1.0, 1 + second]) * 0.5
    assert exact_giro_regret([p, q], 3) == pytest.approx(exact)


def test_the_first_rounds_of_bootstrapping_by_hand() -> None:
    p, q = 0.6, 0.3
    second = (p * q + (1 - p) * (1 - q)) / 2 + (1 - p) * q
    exact = np.array([0, 1, 1 + second]) * (p - q)
    assert exact_bootstrap_regret([p, q], 3) == pytest.approx(exact)


def test_bootstrapping_with_two_first_pulls_matches_the_tree() -> None:
    means = [0.6, 0.3]
    laws = [bootstrap_probabilities(2, ranking=ranking) for ranking in ((0, 1), (1, 0))]
    tree = [np.mean([naive.tree_regret(law, means, n) for law in laws]) for n in range(1, 7)]
    assert exact_bootstrap_regret(means, 6, 2) == pytest.approx(tree)
    assert tree[:4] == pytest.approx([0, 0, 0.3, 0.6])


def test_bootstrapping_with_ties_broken_anew_matches_the_tree() -> None:
    means, law = [0.6, 0.3], bootstrap_probabilities(1)
    tree = [naive.tree_regret(law, means, n) for n in range(1, 6)]
    assert exact_bootstrap_regret(means, 5, ties="random") == pytest.approx(tree)


def test_literal_play_has_the_exact_regret(seed: int) -> None:
    """The mean of many runs lies within five standard errors: by chance, one test in a million."""
    means, rounds, runs = [0.8, 0.3], 6, 2_000
    played = [
        sum(naive.play_giro(means, rounds, Fraction(1, 3), stream(seed, run))) * 0.5
        for run in range(runs)
    ]
    error = np.std(played) / np.sqrt(runs)
    assert abs(np.mean(played) - exact_giro_regret(means, rounds, 1 / 3)[-1]) < 5 * error


def test_equal_arms_cost_nothing() -> None:
    assert exact_giro_regret([0.4, 0.4], 5).tolist() == [0] * 5


def test_certain_rewards_need_no_randomness() -> None:
    """Without pseudo rewards, an arm that gave 1 and one that gave 0 settle the matter."""
    assert exact_bootstrap_regret([1, 0], 8).tolist() == [0, *[1] * 7]


def test_twelve_rounds_add_up() -> None:
    pulled = exact_giro_regret([1.0, 0.0], 12) + exact_giro_regret([0.0, 1.0], 12)
    assert np.all(np.diff(exact_giro_regret([0.7, 0.2], 12)) > 0)
    assert pulled == pytest.approx(2 * exact_giro_regret([1.0, 0.0], 12))


def test_bad_input_is_refused() -> None:
    with pytest.raises(BadParameter, match="rounds"):
        exact_giro_regret([0.5, 0.4], 0)
    with pytest.raises(BadParameter, match=r"\[0, 1\]"):
        exact_giro_regret([0.5, 1.4], 3)
    with pytest.raises(BadParameter, match="'random' or 'fixed'"):
        exact_giro_regret([0.5, 0.4], 3, ties="first")  # type: ignore[arg-type]
    with pytest.raises(BadParameter, match="'random' or 'fixed'"):
        exact_bootstrap_regret([0.5, 0.4], 3, ties="first")  # type: ignore[arg-type]


# -- Lemma 1 ------------------------------------------------------------------------------------


ordered_means = st.tuples(st.floats(0.01, 1), st.floats(0, 0.99)).filter(
    lambda means: means[0] > means[1] + 1e-6
)


@settings(max_examples=25, deadline=None, database=None)
@given(means=ordered_means, pulls=st.integers(1, 3))
def test_the_exact_regret_is_above_the_bound(means: tuple[float, float], pulls: int) -> None:
    rows = linear_regret_rows(means, 7, pulls)
    assert [row.n for row in rows] == list(range(1, 8))
    for row in rows:
        assert row.holds
        assert row.bound <= row.regret + 1e-12


def test_the_bounds_by_hand() -> None:
    assert linear_regret_bound([0.6, 0.4], 11) == pytest.approx(0.5 * 0.4 * 0.2 * 10)
    assert linear_regret_bound([0.6, 0.4], 11, 2) == pytest.approx(0.5 * 0.16 * 0.2 * 9)
    assert linear_regret_bound([0.6, 0.4], 1) == 0


def test_a_bound_twice_as_large_would_be_wrong() -> None:
    row = linear_regret_rows([0.1, 0.0], 9)[-1]
    assert row.regret < 2 * row.bound


def test_the_bound_holds_with_the_worse_arm_first_too() -> None:
    exact = exact_bootstrap_regret([0.4, 0.6], 9)
    assert all(exact[n - 1] >= linear_regret_bound([0.6, 0.4], n) for n in range(1, 10))


def test_giro_does_not_obey_it() -> None:
    """Only without pseudo rewards is a first reward of 0 fatal."""
    means, n = [0.5, 0.0], 14
    growth = exact_giro_regret(means, n, ties="fixed")[-1] - exact_giro_regret(means, n - 1)[-1]
    assert growth < linear_regret_bound(means, n) / (n - 1)


def test_bad_input_of_lemma_1_is_refused() -> None:
    for means in ([0.4, 0.6], [0.5, 0.5], [0.5, 0.4, 0.3], [0.5]):
        with pytest.raises(BadParameter, match="two arms"):
            linear_regret_bound(means, 5)
    with pytest.raises(BadParameter, match="pulls=0"):
        linear_regret_bound([0.6, 0.4], 5, 0)
    with pytest.raises(BadParameter, match="rounds"):
        linear_regret_bound([0.6, 0.4], 0)


def test_a_wrong_exact_regret_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    question = exact.Question("giro:a=1", None, (0.9, 0.1), 5, 400, 0)
    wrong = np.array([0.4, 0.9, 1.3, 1.7, 2.1])
    monkeypatch.setattr(exact, "exact_giro_regret", lambda *_: wrong)
    (statement,) = exact.exact_report(question).statements
    assert statement.word == "fails"
