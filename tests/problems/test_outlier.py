"""The outlier: who sees which words, what they pay, and that it has to be tried again."""

import numpy as np
import pytest
from laws import assert_follows, assert_follows_cdf
from scipy import stats

from giro import BadParameter, Problem, simulate
from giro.problem import reveal, reward, start
from giro.problems.outlier import Outlier
from giro.seeds import stream


def test_one_arm_has_the_outlier_and_others_any_other_word(seed: int) -> None:
    problem = Outlier(n_arms=4, words=6, kinds=3)
    instance, rng = start(problem, stream(seed)), stream(seed, 1)
    readers, odd, words = [], [], []
    for t in range(4_000):
        offer, _, _ = reveal(instance, t, rng)
        assert offer.features.sum(axis=1).tolist() == [1.0] * 4
        assert offer.context.sum() == 1.0
        seen = offer.features.argmax(axis=1)
        (place,) = np.flatnonzero(seen == 5)
        readers.append(int(offer.context.argmax()))
        odd.append(int(place))
        words.append(int(seen[(place + 1) % 4]))
    assert_follows(readers, [1 / 3] * 3)
    assert_follows(odd, [1 / 4] * 4)
    assert_follows(words, [1 / 5] * 5)


def test_means_are_those_of_kind_and_word(seed: int) -> None:
    problem = Outlier(n_arms=5, words=4, kinds=3)
    instance, rng = start(problem, stream(seed)), stream(seed, 1)
    found: dict[tuple[int, int], set[float]] = {}
    for t in range(500):
        offer, means, highest = reveal(instance, t, rng)
        assert highest == means.max()
        kind = int(offer.context.argmax())
        for arm, word in enumerate(offer.features.argmax(axis=1).tolist()):
            found.setdefault((kind, word), set()).add(float(means[arm]))
    assert len(found) == 12
    assert all(len(means) == 1 for means in found.values())
    assert [found[kind, 3] for kind in range(3)] == [{0.3}, {0.005}, {0.005}]


def test_ordinary_means_are_uniform_and_rewards_have_the_revealed_mean(seed: int) -> None:
    problem = Outlier()
    tables = [start(problem, stream(seed, run)).table[:, :-1].ravel() for run in range(20)]
    assert_follows_cdf(np.concatenate(tables), stats.uniform(0.02, 0.02).cdf)
    instance, means = start(problem, stream(seed)), np.full(10, 0.3)
    rng = stream(seed, 1)
    assert_follows([int(reward(instance, means, 0, rng)) for _ in range(5_000)], [0.7, 0.3])


def test_who_never_explores_misses_it_in_some_runs(seed: int) -> None:
    """Without the outlier nobody earns more than 0.04 of a reader."""
    never, always = (
        simulate(policy, "outlier", rounds=6_000, runs=8, seed=seed).reward[:, -1] / 6_000
        for policy in (
            "greedy:model=[hashed:bits=10,offset=0]",
            "epsilon-greedy:epsilon=0.1,model=[hashed:bits=10]",
        )
    )
    assert never.min() < 0.04 < always.min()


@pytest.mark.parametrize("text", ["n_arms=0", "words=1", "kinds=1"])
def test_bad_parameters_are_refused(text: str) -> None:
    with pytest.raises(BadParameter, match="outlier needs a whole number"):
        Problem.parse(f"outlier:{text}")
