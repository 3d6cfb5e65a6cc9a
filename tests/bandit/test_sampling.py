"""Logged probabilities are the true ones: exact, or those of the vote that arms are drawn from."""

from typing import Any

import numpy as np
import pytest
from bandit.clock import bandit_of, chances_of
from laws import ALPHA, assert_follows, p_value_of_counts
from scipy import stats

from giro import BadParameter, Bandit
from giro.paper.theory.choice_probabilities import giro_probabilities
from giro.policies.randomized import Randomized

MEANS = {"a": 0.3, "b": 0.5, "c": 0.6}


def bootstrap_mean(history: np.ndarray, rng: np.random.Generator) -> float:
    return float(history[rng.integers(0, history.size, history.size)].mean())


def noisy(history: np.ndarray, rng: np.random.Generator) -> float:
    return float(history.mean() + 2.0 * rng.random())


def taught(policy: Any, rewards: list[float], **rest: Any) -> Bandit:
    """Return a bandit whose arms a, b, c had these rewards in turn."""
    bandit = bandit_of(policy, "abc", **rest)
    for i, reward in enumerate(rewards):
        decision = bandit.decide(arms=["abc"[i % 3]])
        bandit.reward(decision.id, reward)
    return bandit


def law_of(bandit: Bandit) -> np.ndarray:
    law = bandit.decide().propensities
    assert law is not None
    return np.array(list(law.values()))


ZEROS_AND_ONES = [0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]
FRACTIONS = [0.2, 0.5, 0.6, 0.7, 0.1, 0.9]
EXACT = {
    "thompson": ("thompson", ZEROS_AND_ONES, {}),
    "thompson, rounded rewards": ("thompson:alpha=0.5", FRACTIONS, {}),
    "giro": ("giro:a=1/3", ZEROS_AND_ONES, {}),
    "with a floor": ("thompson", ZEROS_AND_ONES, {"floor": 0.3}),
    "epsilon-greedy, ties": ("epsilon-greedy:epsilon=0.3", [1.0, 1.0, 0.0], {}),
}


@pytest.mark.parametrize("which", EXACT)
def test_arms_follow_their_exact_probabilities(which: str, seed: int) -> None:
    policy, rewards, rest = EXACT[which]
    bandit = taught(policy, rewards, seed=seed, **rest)
    law = law_of(bandit)
    assert law.sum() == pytest.approx(1.0, abs=1e-12)
    assert 0.0 < law.min() < law.max() < 1.0
    arms = ["abc".index(decision.arm) for decision in bandit.decide_many(6_000)]
    assert_follows(arms, law)


def test_probabilities_of_giro_are_those_of_the_exact_enumeration() -> None:
    bandit = taught("giro:a=1/3", ZEROS_AND_ONES)
    assert law_of(bandit) == pytest.approx(
        giro_probabilities(1 / 3)([3, 3, 3], [1, 2, 2]), abs=1e-12
    )


def test_a_floor_leaves_no_arm_without_a_chance() -> None:
    bandit = taught("ucb1", [0.0, 0.3, 0.9], floor=0.3)
    assert sorted(law_of(bandit)) == pytest.approx([0.1, 0.1, 0.8])
    counts = np.bincount(["abc".index(d.arm) for d in bandit.decide_many(3_000)])
    assert p_value_of_counts(counts, law_of(bandit)) > ALPHA


def test_arms_are_drawn_from_the_vote(seed: int) -> None:
    bandit = taught(Randomized(bootstrap_mean), FRACTIONS, seed=seed, votes=4, floor=0.1)
    decisions = bandit.decide_many(1_500)
    laws = np.array([list(chances_of(decision).values()) for decision in decisions])
    assert set(np.round((laws - 0.1 / 3) / 0.9 * 4, 9).ravel()) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    for arm in range(3):  # where an arm had such a probability, it was chosen that often
        for p in np.unique(laws[:, arm]):
            chosen = [
                d.arm == "abc"[arm] for d, law in zip(decisions, laws, strict=True) if law[arm] == p
            ]
            assert stats.binomtest(sum(chosen), len(chosen), p).pvalue > ALPHA


def test_giro_votes_from_the_first_reward_that_is_not_0_or_1() -> None:
    bandit = taught("giro", [0.0, 1.0, 1.0], votes=8)
    exact = law_of(bandit)
    assert exact == pytest.approx(giro_probabilities(1.0)([1, 1, 1], [0, 1, 1]), abs=1e-12)
    bandit.reward(bandit.decide(arms=["a"]).id, 0.5)
    voted = law_of(bandit) * 8
    assert voted == pytest.approx(np.round(voted), abs=1e-9)


def test_without_propensities_a_policy_just_chooses() -> None:
    counted = []

    def mean(history: np.ndarray, rng: np.random.Generator) -> float:
        counted.append(1)
        return float(history.mean())

    bandit = taught(Randomized(mean), FRACTIONS, propensities=False)
    counted.clear()
    decision = bandit.decide()
    assert len(counted) == 3
    assert decision.propensity is None
    assert decision.propensities is None
    assert bandit.events()["propensities"].null_count() == bandit.events().height


def test_tries_until_the_same_arm_give_the_inverse_without_bias(seed: int) -> None:
    """The mean of tries is 1/p where a law is known: giro's, of rewards that are nearly 0 and 1."""
    exact = law_of(taught("giro", ZEROS_AND_ONES))
    nearly = taught("giro", [abs(reward - 1e-14) for reward in ZEROS_AND_ONES], seed=seed)
    decisions = nearly.decide_many(4_000)
    assert decisions[0].propensities is None
    for arm, p in zip("abc", exact, strict=True):
        tries = np.array([1.0 / (d.propensity or 0.0) for d in decisions if d.arm == arm])
        assert np.allclose(tries, np.round(tries))
        assert stats.ttest_1samp(tries, 1.0 / p).pvalue > ALPHA
        assert stats.ttest_1samp(tries, 0.8 / p).pvalue < ALPHA  # a wrong one would be seen


@pytest.mark.parametrize("policy", ["thompson", "voted", "tried"])
def test_inverse_propensity_estimates_recover_the_value_of_every_arm(
    policy: str, seed: int
) -> None:
    """The mean of reward / propensity over decisions for an arm is unbiased while it learns."""
    estimates = []
    for repeat in range(60):
        tried = policy == "tried"  # without a floor, so that every arm needs a chance
        chosen = (
            "thompson" if policy == "thompson" else Randomized(noisy if tried else bootstrap_mean)
        )
        how = {} if policy == "tried" else {"votes": 16, "floor": 0.1}
        bandit = bandit_of(chosen, "abc", seed=1_000 * seed + repeat, **how)
        rng = np.random.Generator(np.random.PCG64([seed, repeat]))
        sums = dict.fromkeys(MEANS, 0.0)
        for _ in range(25):
            decision = bandit.decide()
            reward = float(rng.random() < MEANS[decision.arm])
            sums[decision.arm] += reward / (decision.propensity or 0.0)
            bandit.reward(decision.id, reward)
        estimates.append([sums[arm] / 25 for arm in MEANS])
    for mine, truth in zip(np.array(estimates).T, MEANS.values(), strict=True):
        assert stats.ttest_1samp(mine, truth).pvalue > 1e-5


def test_an_estimate_beside_a_separate_draw_would_be_caught() -> None:
    """The judge above is not blind: the vote of a policy that chose separately is biased."""
    estimates = []
    for repeat in range(60):
        bandit = bandit_of(Randomized(noisy), "abc", seed=repeat, propensities=False)
        beside = bandit_of(Randomized(noisy), "abc", seed=10_000 + repeat, votes=4, floor=0.01)
        rng, total = np.random.Generator(np.random.PCG64(repeat)), 0.0
        for _ in range(25):
            decision = bandit.decide()
            law = chances_of(beside.decide())
            reward = float(rng.random() < MEANS[decision.arm])
            total += (decision.arm == "a") * reward / law["a"]
            bandit.reward(decision.id, reward)
            beside.reward(beside.decide(arms=[decision.arm]).id, reward)
        estimates.append(total / 25)
    assert stats.ttest_1samp(estimates, MEANS["a"]).pvalue < 1e-3


@pytest.mark.parametrize("policy", ["thompson", "giro"])
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_a_baseline_takes_the_rest_of_the_decisions(policy: str, share: float, seed: int) -> None:
    rewards = ZEROS_AND_ONES if policy == "thompson" else FRACTIONS
    bandit = taught(policy, rewards, seed=seed, share=share, votes=50)
    decisions = [bandit.decide(baseline="b") for _ in range(2_000)]
    p = np.array([list(chances_of(d).values()) for d in decisions])
    assert (p[:, 1] >= 1.0 - share - 1e-12).all()
    chosen = np.array([d.arm == "b" for d in decisions])
    spread = np.sqrt((p[:, 1] * (1.0 - p[:, 1])).sum()) + 1e-9
    assert abs(chosen.sum() - p[:, 1].sum()) < 5.0 * spread
    first = bandit.decide()  # the first arm unless said otherwise
    assert chances_of(first)["a"] >= 1.0 - share - 1e-12
    with pytest.raises(BadParameter, match="not one of the arms"):
        bandit.decide(arms=["a", "b"], baseline="c")
