"""A problem that takes another's place: when, and what regret is counted against."""

import numpy as np
import pytest

from giro import BadParameter, Policy, Problem
from giro.problem import reveal, reward, start
from giro.seeds import stream
from giro.simulation.play import play_run

BEFORE, AFTER = "bernoulli:means=[0.6,0.4]", "bernoulli:means=[0.2,0.4]"


def test_regret_is_counted_against_the_best_arm_of_the_present_round(seed: int) -> None:
    problem = Problem.parse(f"switching:first=[{BEFORE}],second=[{AFTER}],at=50")
    record = play_run(
        Policy.parse("uniform"), problem, np.arange(1, 101), seed=seed, run=0, keep_arms=True
    )
    arms, first = record.arms, np.arange(100) < 50
    gaps = np.where(arms == np.where(first, 0, 1), 0.0, 0.2)
    np.testing.assert_allclose(record.regret, np.cumsum(gaps), atol=1e-12)
    assert record.best.tolist() == np.cumsum(gaps == 0.0).tolist()


def test_rewards_are_those_of_the_present_problem(seed: int) -> None:
    problem = Problem.parse(
        "switching:first=[bernoulli:means=[1,0]],second=[beta:means=[0,1]],at=3"
    )
    instance, rng = start(problem, stream(seed)), stream(seed, 1)
    seen = []
    for t in range(6):
        _, means, highest = reveal(instance, t, rng)
        assert highest == 1.0
        seen.append([reward(instance, means, arm, rng) for arm in range(2)])
    assert seen == [[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 3


def test_the_first_problem_is_played_as_by_itself_and_the_second_is_its_own(seed: int) -> None:
    """Both draw their instances before the first round, the first one first."""
    alone = Problem.parse("bernoulli:n_arms=4")
    problem = Problem.parse("switching:first=[bernoulli:n_arms=4],second=[bernoulli:n_arms=4],at=9")
    instance, rng = start(problem, stream(seed)), stream(seed, 1)
    before, after = (reveal(instance, t, rng)[1] for t in (8, 9))
    assert before.tolist() == start(alone, stream(seed)).means.tolist()
    assert not set(before) & set(after)


def test_a_world_changes_twice_if_the_second_problem_is_switching(seed: int) -> None:
    twice = f"switching:first=[{AFTER}],second=[{BEFORE}],at=20"
    problem = Problem.parse(f"switching:first=[{BEFORE}],second=[{twice}],at=10")
    instance, rng = start(problem, stream(seed)), stream(seed, 1)
    means = [reveal(instance, t, rng)[1][0] for t in (0, 9, 10, 19, 20, 99)]
    assert means == [0.6, 0.6, 0.2, 0.2, 0.6, 0.6]


def test_what_cannot_take_the_place_of_the_other_is_refused() -> None:
    for text, complaint in (
        ("first=bernoulli,second=[bernoulli:n_arms=3],at=5", "equal numbers of arms"),
        ("first=bernoulli,second=linear,at=5", "equal numbers of arms, context features"),
        ("first=[sleeping:problem=bernoulli],second=bernoulli,at=5", "all arms on offer"),
        ("first=bernoulli,second=bernoulli,at=0", "needs a whole number at >= 1"),
        ("first=bernoulli,second=bernoulli", "needs at"),
    ):
        with pytest.raises(BadParameter, match=complaint):
            Problem.parse(f"switching:{text}")
