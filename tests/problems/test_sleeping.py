"""Arms that are awake now and then: who is, and what regret is counted against."""

import numpy as np
import pytest
from laws import assert_follows

from giro import BadParameter, Policy, Problem
from giro.problem import reveal, start
from giro.seeds import stream
from giro.simulation.play import play_run

ASLEEP = (
    "sleeping:problem=[bernoulli:n_arms=4],awake=0.4",
    "sleeping:problem=[linear:n_arms=3,dimension=2]",
    "sleeping:problem=[linear:n_arms=3,dimension=2,shared=true],awake=0.7",
)


@pytest.mark.parametrize("text", ASLEEP)
def test_regret_is_counted_against_the_best_arm_that_is_awake(text: str, seed: int) -> None:
    problem, rounds = Problem.parse(text), 120
    record = play_run(
        Policy.parse("uniform"), problem, np.arange(1, rounds + 1), seed=seed, run=2, keep_arms=True
    )
    rng = stream(seed, 2, 0)  # the problem's own, as in the run
    instance = start(problem, rng)
    regret, best = 0.0, 0
    for t in range(rounds):
        offer, means, _ = reveal(instance, t, rng)
        awake, arm = set(offer.arms.tolist()), int(record.arms[t])
        assert arm in awake
        highest = max(means[other] for other in awake)
        regret += highest - means[arm]
        best += means[arm] == highest
        assert record.regret[t] == pytest.approx(regret, abs=1e-12)
        assert record.best[t] == best
    assert 0 < best < rounds


def test_arms_wake_up_by_themselves_and_one_at_least(seed: int) -> None:
    awake = 0.3
    problem = Problem.parse(f"sleeping:problem=[bernoulli:n_arms=3],awake={awake}")
    rng = stream(seed)
    instance = start(problem, rng)
    sets = [int((1 << reveal(instance, t, rng)[0].arms).sum()) for t in range(20_000)]
    sizes = np.array([bin(number).count("1") for number in range(8)])
    law = awake**sizes * (1 - awake) ** (3 - sizes)
    law[0] = 0.0
    assert_follows(sets, law / law.sum())
    with pytest.raises(AssertionError, match="p ="):
        wrong = 0.32**sizes * 0.68 ** (3 - sizes) * (sizes > 0)
        assert_follows(sets, wrong / wrong.sum())


def test_features_on_offer_are_those_of_the_arms_that_are_awake(seed: int) -> None:
    problem = Problem.parse("sleeping:problem=[linear:n_arms=4,dimension=2,shared=true]")
    rng = stream(seed)
    instance = start(problem, rng)
    for t in range(50):
        offer, means, _ = reveal(instance, t, rng)
        rows = np.column_stack([offer.features, np.ones(offer.arms.size)])
        theta = instance.inner.drawn.theta[0]
        np.testing.assert_allclose(means[offer.arms], 0.5 + rows @ theta, rtol=1e-12)


def test_what_cannot_sleep_is_refused() -> None:
    for text, complaint in (
        ("problem=[sleeping:problem=bernoulli]", "needs problems with all arms on offer"),
        ("problem=bernoulli,awake=0", "needs 0 < awake <= 1"),
        ("problem=bernoulli,awake=1.1", "needs 0 < awake <= 1"),
        ("problem=bernoulli,awake=nan", "awake is a number"),
    ):
        with pytest.raises(BadParameter, match=complaint):
            Problem.parse(f"sleeping:{text}")
