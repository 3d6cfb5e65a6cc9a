"""Arms with features share one model: one regression over context, features, products and 1."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from contract.steps import in_steps
from laws import ALPHA, assert_follows, assert_follows_cdf, p_value_of_same_counts
from live_kernels import law_of, live_of
from policies.logistic_twin import fitted
from scipy import stats
from scipy.special import expit

from giro import BadParameter, Policy, simulate
from giro.live import LivePolicy
from giro.model import Model, value
from giro.offer import Case, Offer, Shape
from giro.policies._replicas import draw_weights
from giro.policies.ensemble import Ensemble
from giro.policies.epsilon_greedy import EpsilonGreedy
from giro.policies.giro_ensemble import GiroEnsemble
from giro.policies.glm_ucb import GlmUcb
from giro.policies.glm_ucb import _bounds as glm_bounds
from giro.policies.lin_ts import LinTs
from giro.policies.lin_ucb import LinUcb
from giro.policies.lin_ucb import _bounds as lin_bounds
from giro.policies.poisson_bootstrap import PoissonBootstrap
from giro.policies.ucb_glm import UcbGlm
from giro.policies.ucb_glm import _bounds as score_bounds
from giro.policy import start
from giro.seeds import stream
from giro.simulation.metrics import estimate

CONTEXT, FEATURES, N_ARMS, ROUNDS = 2, 3, 5, 40
D = CONTEXT + FEATURES + CONTEXT * FEATURES + 1
SHAPE = Shape(N_ARMS, CONTEXT, FEATURES, 100, 100)
VOTES = 20_000


class Past(NamedTuple):
    """What was observed, whichever arm was pulled."""

    cases: list[Case]
    arms: np.ndarray  # [row]
    rows: np.ndarray  # [row, column] context, features, products, 1
    rewards: np.ndarray  # [row]


def with_products(contexts: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Return rows of a regression."""
    products = [np.outer(*pair).ravel() for pair in zip(contexts, features, strict=True)]
    return np.column_stack([contexts, features, products, np.ones(len(contexts))])


def past(*, binary: bool = True) -> Past:
    """Return the same rounds each time: only draws of policies differ with the seed."""
    rng = stream(31)
    contexts, features = rng.normal(size=(ROUNDS, CONTEXT)), rng.normal(size=(ROUNDS, FEATURES))
    rows = with_products(contexts, features)
    chances = expit(rows @ [0.5, -0.5, 1.0, -1.0, 0.3, 0.2, 0.0, 0.4, -0.3, 0.0, 0.1, 0.1])
    rewards = (rng.random(ROUNDS) < chances).astype(float) if binary else chances
    cases = [Case(*pair) for pair in zip(contexts, features, strict=True)]
    return Past(cases, rng.integers(0, N_ARMS, ROUNDS), rows, rewards)


def informed(policy: Policy, seed: int, *, binary: bool = True) -> LivePolicy:
    """Return the policy after this past."""
    live, seen = live_of(policy, SHAPE, seed=seed), past(binary=binary)
    for case, arm, reward in zip(seen.cases, seen.arms, seen.rewards, strict=True):
        live.learn(case, int(arm), float(reward))
    live.stream_of(0)
    return live


def offer(number: int = 0) -> tuple[Offer, np.ndarray]:
    """Return some arms with features, and their rows."""
    rng, arms = stream(32, number), (0, 2, 3)
    context, features = rng.normal(size=CONTEXT), rng.normal(size=(len(arms), FEATURES))
    rows = with_products(np.tile(context, (len(arms), 1)), features)
    return Offer(np.array(arms), context, features), rows


def ridge(rows: np.ndarray, rewards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return V = I + Σ x x' and the estimate."""
    v = np.eye(D) + rows.T @ rows
    return v, np.linalg.solve(v, rows.T @ rewards)


def widths(rows: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("ij,ij->i", rows, np.linalg.solve(v, rows.T).T))


def counts_of(live: LivePolicy, asked: Offer) -> np.ndarray:
    return (VOTES * live.vote(asked, VOTES)).round()


@pytest.mark.parametrize("scale", [None, 0.3])
def test_lin_ucb_adds_the_width_to_one_ridge_regression(scale: float | None, seed: int) -> None:
    live, seen = informed(LinUcb(scale), seed), past()
    v, theta = ridge(seen.rows, seen.rewards)
    radius = 0.5 * math.sqrt(math.log(np.linalg.det(v)) - 2 * math.log(0.05)) + 1.0
    for number in range(5):
        asked, rows = offer(number)
        wanted = rows @ theta + (radius if scale is None else scale) * widths(rows, v)
        np.testing.assert_allclose(lin_bounds(live.state, asked), wanted, rtol=1e-9)
        assert live.choose(asked) == asked.arms[np.argmax(wanted)]


def test_logistic_bounds_are_those_of_one_fit(seed: int) -> None:
    seen = past()
    theta = fitted(seen.rows, np.ones(ROUNDS), seen.rewards, 1.0)
    v, _ = ridge(seen.rows, seen.rewards)
    asked, rows = offer()
    ucb, glm = informed(UcbGlm(0.4), seed), informed(GlmUcb(0.4), seed)
    scores = rows @ theta
    for live, bounds, wanted in (
        (ucb, score_bounds, scores + 0.4 * widths(rows, v)),
        (glm, glm_bounds, expit(scores) + 0.4 * widths(rows, v)),
    ):
        np.testing.assert_allclose(bounds(live.state, asked), wanted, rtol=1e-7, atol=1e-7)
        law = live.propensities(asked)
        assert law is not None
        assert law.tolist() == (np.arange(3) == np.argmax(wanted)).tolist()
        assert live.choose(asked) == asked.arms[np.argmax(wanted)]


def test_ucb_glm_first_draws_as_many_arms_as_one_model_has_parameters(seed: int) -> None:
    live, seen = live_of(UcbGlm(0.1), SHAPE, seed=seed), past()
    asked, _ = offer()
    for t in range(D + 1):
        law = live.propensities(asked)
        assert law is not None
        assert (law == 1 / 3).all() == (t < D)
        live.learn(seen.cases[t], 0, float(seen.rewards[t]))


@pytest.mark.parametrize("model", ["linear", pytest.param("logistic", marks=pytest.mark.slow)])
def test_epsilon_greedy_asks_one_model(model: str, seed: int) -> None:
    live, seen = informed(EpsilonGreedy(epsilon=0.3, model=Model.parse(model)), seed), past()
    if model == "linear":
        _, theta = ridge(seen.rows, seen.rewards)
    else:
        theta = fitted(seen.rows, np.ones(ROUNDS), seen.rewards, 1.0)
    asked, rows = offer()
    wanted = np.full(3, 0.1) + 0.7 * (np.arange(3) == np.argmax(rows @ theta))
    law = live.propensities(asked)
    assert law is not None
    np.testing.assert_allclose(law, wanted, atol=1e-12)
    assert p_value_of_same_counts(counts_of(live, asked), VOTES * wanted) > ALPHA


@pytest.mark.parametrize("scale", [None, 0.5])
def test_lin_ts_draws_one_vector_for_all_arms(scale: float | None, seed: int) -> None:
    live, seen, rng = informed(LinTs(scale), seed), past(), stream(seed, 33)
    asked, rows = offer()
    v, theta = ridge(seen.rows, seen.rewards)
    spread = 0.5 * math.sqrt(9 * D * math.log((ROUNDS + 1) / 0.05)) if scale is None else scale
    covariance = spread**2 * np.linalg.inv(v)
    together = rng.multivariate_normal(theta, covariance, VOTES) @ rows.T
    apart = rows @ theta + spread * widths(rows, v) * rng.standard_normal((VOTES, 3))
    counts = counts_of(live, asked)
    assert live.propensities(asked) is None
    assert p_value_of_same_counts(counts, np.bincount(together.argmax(axis=1), minlength=3)) > ALPHA
    assert p_value_of_same_counts(counts, np.bincount(apart.argmax(axis=1), minlength=3)) < ALPHA


def test_a_model_of_the_ensemble_is_a_draw_of_the_posterior_of_one_theta(seed: int) -> None:
    policy = Ensemble(4_000, prior_sd=0.7, noise_sd=0.4)
    live, seen = informed(policy, seed), past()
    asked, rows = offer()
    precision = seen.rows.T @ seen.rows / 0.4**2 + np.eye(D) / 0.7**2
    theta = np.linalg.solve(precision, seen.rows.T @ (seen.rewards - 0.5) / 0.4**2)
    gram = seen.rows.T @ seen.rows + (0.4 / 0.7) ** 2 * np.eye(D)
    values = live.state.moment[0] @ np.linalg.solve(gram, rows.T)  # [model, arm]
    for i in range(3):
        sd = math.sqrt(rows[i] @ np.linalg.solve(precision, rows[i]))
        assert_follows_cdf(values[:, i], stats.norm(rows[i] @ theta, sd).cdf)
    favourites = np.bincount(values.argmax(axis=1), minlength=3) / 4_000
    law = live.propensities(asked)
    assert law is not None
    np.testing.assert_allclose(law, favourites, atol=1e-12)
    assert p_value_of_same_counts(counts_of(live, asked), VOTES * favourites) > ALPHA


@pytest.mark.parametrize("policy", [GiroEnsemble(a=0.3, replicas=7), PoissonBootstrap(replicas=7)])
def test_one_replica_decides_for_all_arms(
    policy: GiroEnsemble | PoissonBootstrap, seed: int
) -> None:
    a = 0.3 if isinstance(policy, GiroEnsemble) else 0.0
    seen, twin, rng = past(), stream(seed, 34), stream(seed, 34)
    state, learn = start(policy, SHAPE, stream(seed)), type(policy).learn
    weights = np.zeros((ROUNDS, 7, 3), np.int32)
    for t in range(ROUNDS):
        learn(state, seen.cases[t], int(seen.arms[t]), float(seen.rewards[t]), rng)
        draw_weights(weights[t], 0, a, twin)
    asked, rows = offer()
    favourites = np.zeros(3)
    for replica in range(7):
        w = weights[:, replica].sum(axis=1)
        z = weights[:, replica, 0] * seen.rewards + weights[:, replica, 1]
        theta = np.linalg.solve((seen.rows.T * w) @ seen.rows + np.eye(D), seen.rows.T @ z)
        ours = [value(state.model, replica, row) for row in rows]
        np.testing.assert_allclose(ours, rows @ theta, rtol=1e-9)
        favourites[np.argmax(rows @ theta)] += 1 / 7
    np.testing.assert_allclose(law_of(state, asked), favourites, atol=1e-12)
    live = informed(policy, seed)
    law = live.propensities(asked)
    assert law is not None
    assert law is not None
    counts = counts_of(live, asked).astype(int)
    assert_follows(np.repeat(np.arange(3), counts), law)


def literal_counts(seen: Past, rows: np.ndarray, a: int, draws: int, seed: int) -> np.ndarray:
    """Kveton et al. (2019), Algorithm 3, with one history of all arms and one ridge regression."""
    rng, counts = stream(seed, 35), np.zeros(len(rows))
    table = np.tile(seen.rows, (1 + 2 * a, 1))
    rewards = np.concatenate([seen.rewards, np.ones(a * ROUNDS), np.zeros(a * ROUNDS)])
    for _ in range(draws):
        sample = rng.integers(0, rewards.size, rewards.size)
        _, theta = ridge(table[sample], rewards[sample])
        counts[np.argmax(rows @ theta)] += 1
    return counts


@pytest.mark.parametrize("binary", [True, False])
def test_contextual_giro_resamples_one_history_of_all_arms(binary: bool, seed: int) -> None:
    policy = Policy.parse("contextual-giro:a=1,model=linear")
    live, seen = informed(policy, seed, binary=binary), past(binary=binary)
    asked, rows = offer()
    counts = counts_of(live, asked)
    assert p_value_of_same_counts(counts, literal_counts(seen, rows, 1, 4_000, seed)) > ALPHA
    assert p_value_of_same_counts(counts, literal_counts(seen, rows, 9, 4_000, seed)) < ALPHA


def perturbed_counts(
    rows: np.ndarray, a: int, draws: int, seed: int, *, logistic: bool
) -> np.ndarray:
    """Kveton et al. (UAI 2019), with `a` coins at each row of one history, all arms by one θ."""
    seen, rng, counts = past(), stream(seed, 36), np.zeros(len(rows))
    table = np.tile(seen.rows, (1 + a, 1))
    gram = seen.rows.T @ seen.rows + np.eye(D)
    for _ in range(draws):
        rewards = np.concatenate([seen.rewards, rng.integers(0, 2, a * ROUNDS)])
        if logistic:
            theta = fitted(table, np.ones(rewards.size), rewards, 1.0)
        else:
            theta = np.linalg.solve((a + 1) * gram, table.T @ rewards)
        counts[np.argmax(rows @ theta)] += 1
    return counts


@pytest.mark.parametrize(("name", "draws"), [("lin-phe", 10_000), ("log-phe", 1_000)])
def test_perturbed_histories_are_one_history_of_all_arms(name: str, draws: int, seed: int) -> None:
    live, logistic = informed(Policy.parse(f"{name}:a=2"), seed), name == "log-phe"
    asked, rows = offer(1)
    counts = (draws * live.vote(asked, draws)).round()
    alike, other = (perturbed_counts(rows, a, draws, seed, logistic=logistic) for a in (2, 12))
    assert p_value_of_same_counts(counts, alike) > ALPHA
    assert p_value_of_same_counts(counts, other) < ALPHA


@pytest.mark.parametrize(
    "text", ["contextual-giro", "giro-ensemble", "lin-phe", "epsilon-greedy:model=linear"]
)
def test_before_any_reward_all_arms_tie(text: str, seed: int) -> None:
    live = live_of(Policy.parse(text), SHAPE, seed=seed)
    asked, _ = offer()
    live.stream_of(0)
    assert_follows(np.repeat(np.arange(3), counts_of(live, asked).astype(int)), [1 / 3] * 3)


def test_policies_without_a_model_refuse_features_of_arms(seed: int) -> None:
    for text in ("giro", "ucb1", "tree-bootstrap", "epsilon-greedy"):
        with pytest.raises(BadParameter, match="cannot use features of arms; policies that can: "):
            start(Policy.parse(text), SHAPE, stream(seed))


@pytest.mark.parametrize(
    "text", ["lin-ucb:scale=0.5", "lin-ts:scale=0.3", "giro-ensemble", "lin-phe:a=0.5", "log-phe"]
)
def test_what_one_arm_shows_is_known_of_all(text: str, seed: int) -> None:
    problem = "linear:n_arms=5,dimension=3,shared=true"
    ours, uniform = (
        simulate(in_steps(Policy.parse(name)), problem, rounds=400, runs=20, seed=seed, jobs=1)
        for name in (text, "uniform")
    )
    assert estimate(uniform.regret[:, -1] / 3 - ours.regret[:, -1]).low > 0.0
