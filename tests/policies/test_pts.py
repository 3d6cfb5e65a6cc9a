"""PTS: what is weighed, copied and drawn, against the definition."""

import copy
import math
from typing import Any

import numpy as np
import pytest
from laws import assert_follows_cdf, p_value_of_same_counts
from live_kernels import counted, taught
from scipy import stats

from giro.errors import BadParameter
from giro.offer import NO_CONTEXT, NO_FEATURES, Case, Offer, Shape
from giro.policies.pts import Pts
from giro.policy import start
from giro.seeds import stream

USERS, ARMS, PAST, DRAWS = 3, 4, 40, 20_000
USER, ARM, REWARD = 1, 2, 1.0  # of the reward to be learned
EVERY_ARM = np.arange(ARMS)
SIGNS = np.eye(USERS)  # contexts


class Literal:
    """Posteriors of a state by their definition, Kawale et al. (2015), Section 3."""

    def __init__(self, policy: Pts, state: Any) -> None:
        self.policy, self.users, self.arms = policy, state.users.copy(), state.arms.copy()
        seen, n = state.rewards, state.rewards.n[0]
        self.seen = list(zip(seen.user[:n], seen.arm[:n], seen.value[:n], strict=True))

    def normal(self, rows: np.ndarray, values: list[float]) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean and the covariance of coordinates."""
        noise, sd = self.policy.noise**2, self.policy.sd**2
        covariance = np.linalg.inv(rows.T @ rows / noise + np.eye(self.policy.rank) / sd)
        return covariance @ (rows.T @ np.array(values)) / noise, covariance

    def user(self, user: int, particle: int) -> tuple[np.ndarray, np.ndarray]:
        own = [(self.arms[arm, particle], value) for of, arm, value in self.seen if of == user]
        rows = np.array([row for row, _ in own]).reshape(-1, self.policy.rank)
        return self.normal(rows, [value for _, value in own])

    def arm(self, arm: int, users: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        own = [(users[user], value) for user, of, value in self.seen if of == arm]
        return self.normal(np.array([row for row, _ in own]), [value for _, value in own])

    def weights(self) -> np.ndarray:
        """Return the weights of particles after the reward, which they do not know yet."""
        densities = []
        for particle in range(self.policy.particles):
            row, (mean, covariance) = self.arms[ARM, particle], self.user(USER, particle)
            sd = math.sqrt(self.policy.noise**2 + row @ covariance @ row)
            densities.append(stats.norm.pdf(REWARD - self.policy.centre, row @ mean, sd))
        return np.array(densities) / sum(densities)


def informed(policy: Pts, seed: int) -> Any:
    rng = stream(seed, 1)
    state = start(policy, Shape(ARMS, USERS, 0, PAST + 1, PAST + 1), rng)
    for _ in range(PAST):
        user, arm = int(rng.integers(USERS)), int(rng.integers(ARMS))
        reward = float(rng.random() < (user + arm) / 6)
        taught(state, Case(SIGNS[user], NO_CONTEXT), arm, reward, rng)
    return state


def literal_choices(policy: Pts, state: Any, rng: np.random.Generator) -> np.ndarray:
    literal, each = Literal(policy, state), DRAWS // policy.particles
    chosen = [
        (rng.multivariate_normal(*literal.user(USER, particle), each) @ state.arms[:, particle].T)
        for particle in range(policy.particles)
    ]
    return np.bincount(np.concatenate(chosen).argmax(axis=1), minlength=ARMS)


def p_value(policy: Pts, twin: Pts, seed: int) -> float:
    state = informed(policy, seed)
    offer = Offer(EVERY_ARM, SIGNS[USER], NO_FEATURES)
    counts = counted(state, offer, DRAWS, stream(seed, 2))
    return p_value_of_same_counts(counts, literal_choices(twin, state, stream(seed, 3)))


@pytest.mark.parametrize("policy", [Pts(particles=5), Pts(3, particles=2, noise=0.3, centre=0.2)])
def test_arms_are_pulled_as_often_as_if_users_were_drawn_by_definition(
    policy: Pts, seed: int
) -> None:
    assert p_value(policy, policy, seed) > 1e-6


def test_slightly_wrong_noise_is_noticed() -> None:
    assert p_value(Pts(particles=5, noise=0.5), Pts(particles=5, noise=0.7), 0) < 1e-6


def test_particles_are_copied_as_often_as_they_weigh(seed: int) -> None:
    policy, rng = Pts(particles=4, noise=0.3), stream(seed, 2)
    state = informed(policy, seed)
    state.arms[0, :, 0] = np.arange(4) / 4  # which tells them apart
    expected = policy.particles * Literal(policy, state).weights()
    before, total, times = state.arms[0, :, 0].copy(), np.zeros(4), 4_000
    for _ in range(times):
        later = copy.deepcopy(state)
        taught(later, Case(SIGNS[USER], NO_CONTEXT), ARM, REWARD, rng)
        copies = (later.arms[0, :, 0][:, None] == before).sum(axis=0)
        assert (np.abs(copies - expected) < 1.0).all()  # rounded up or down
        total += copies
    errors = np.sqrt(np.maximum((expected % 1) * (1 - expected % 1), 1e-12) / times)
    assert (np.abs(total / times - expected) < 5 * errors + 1e-9).all()


def test_users_and_arms_are_drawn_from_their_posteriors(seed: int) -> None:
    policy, rng, users, arms = Pts(particles=1), stream(seed, 2), [], []
    state = informed(policy, seed)
    literal = Literal(policy, state)
    literal.seen.append((USER, ARM, REWARD - policy.centre))
    mean, covariance = literal.user(USER, 0)
    root = np.linalg.cholesky(np.linalg.inv(covariance))
    for _ in range(4_000):
        later = copy.deepcopy(state)
        taught(later, Case(SIGNS[USER], NO_CONTEXT), ARM, REWARD, rng)
        users.extend((later.users[USER, 0] - mean) @ root)
        of_arm, spread = literal.arm(ARM, later.users[:, 0])
        arms.extend((later.arms[ARM, 0] - of_arm) @ np.linalg.cholesky(np.linalg.inv(spread)))
    assert_follows_cdf(users, stats.norm.cdf)
    assert_follows_cdf(arms, stats.norm.cdf)


def posterior_choices(policy: Pts, state: Any, rng: np.random.Generator) -> np.ndarray:
    """Return the law of the user's best arm under the posterior, by 4,000 Gibbs chains."""
    seen, n = state.rewards, state.rewards.n[0]
    often, total = np.zeros((2, USERS, ARMS))
    np.add.at(often, (seen.user[:n], seen.arm[:n]), 1.0)
    np.add.at(total, (seen.user[:n], seen.arm[:n]), seen.value[:n])

    def drawn(often: np.ndarray, total: np.ndarray, other: np.ndarray) -> np.ndarray:
        grams = np.einsum("ij,cjr,cjs->cirs", often, other, other)
        precision = grams / policy.noise**2 + np.eye(policy.rank) / policy.sd**2
        covariance = np.linalg.inv(precision)
        mean = np.einsum("cirs,ij,cjs->cir", covariance, total, other) / policy.noise**2
        root = np.linalg.cholesky(covariance)
        return np.asarray(mean + np.einsum("cirs,cis->cir", root, rng.normal(size=mean.shape)))

    arms = rng.normal(0.0, policy.sd, (4_000, ARMS, policy.rank))
    for _ in range(100):
        users = drawn(often, total, arms)
        arms = drawn(often.T, total.T, users)
    users = drawn(often, total, arms)
    best = np.einsum("cr,cjr->cj", users[:, USER], arms).argmax(axis=1)
    return np.bincount(best, minlength=ARMS) / best.size


def distance_to_posterior(policy: Pts, twin: Pts, seed: int) -> float:
    """Return the largest difference of the probabilities of arms."""
    state = informed(policy, seed)
    offer = Offer(EVERY_ARM, SIGNS[USER], NO_FEATURES)
    counts = counted(state, offer, DRAWS, stream(seed, 2))
    law = posterior_choices(twin, state, stream(seed, 3))
    return float(np.abs(counts / DRAWS - law).max())


def test_many_particles_choose_as_sampling_from_the_posterior_does(seed: int) -> None:
    policy = Pts(particles=4_000)
    assert distance_to_posterior(policy, policy, seed) < 0.03


def test_a_posterior_with_other_noise_is_noticed() -> None:
    assert distance_to_posterior(Pts(particles=4_000), Pts(noise=0.25), 0) > 0.1


def test_who_has_no_context_is_one_user() -> None:
    state, rng = start(Pts(particles=2), Shape(2, 0, 0, 9, 9), stream(0)), stream(1)
    for _ in range(5):
        taught(state, Case(NO_CONTEXT, NO_CONTEXT), 1, 1.0, rng)
    assert state.rewards.of_user.length.tolist() == [5]


@pytest.mark.parametrize(
    "wrong",
    [{"rank": 0}, {"particles": 1.5}, {"noise": 0.0}, {"sd": math.nan}, {"centre": 2.0}],
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(BadParameter, match=f"pts needs .*{name}"):
        Pts(**wrong)
