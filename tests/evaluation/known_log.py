"""Logs of a problem whose truth is known, and the judge of confidence intervals."""

from collections.abc import Sequence

import numpy as np
from laws import ALPHA
from scipy import stats

from giro.evaluation import Log
from giro.features import Columns, Schema
from giro.seeds import stream

# [context, arm]: mean rewards, the logging policy and a target
MEANS = np.array([[0.2, 0.5, 0.7], [0.6, 0.3, 0.1], [0.4, 0.4, 0.8], [0.9, 0.2, 0.3]])
LOGGING = np.array([[0.4, 0.3, 0.3], [0.3, 0.3, 0.4], [0.3, 0.4, 0.3], [0.2, 0.4, 0.4]])
TARGET = np.array([[0.1, 0.1, 0.8], [0.8, 0.1, 0.1], [0.2, 0.2, 0.6], [0.5, 0.25, 0.25]])
TRUTH = float(np.sum(TARGET * MEANS, axis=1).mean())
HEAVY = np.array([[0.46, 0.5, 0.04], [0.04, 0.5, 0.46], [0.46, 0.5, 0.04], [0.04, 0.48, 0.48]])


def drawn(probabilities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return an arm for each row of probabilities."""
    above = rng.random(len(probabilities))[:, None] > probabilities.cumsum(axis=1)
    return np.minimum(above.sum(axis=1), probabilities.shape[1] - 1)


def contextual_log(seed: int, number: int, *, events: int, logging: np.ndarray = LOGGING) -> Log:
    """Four contexts, of two features each, with a fixed logging policy."""
    rng = stream(seed, number)
    position = rng.integers(0, 4, events)
    arm = drawn(logging[position], rng)
    reward = (rng.random(events) < MEANS[position, arm]).astype(float)
    contexts = np.column_stack([position // 2, position % 2]).astype(float)
    probability = logging[position, arm]
    schema = Schema(Columns.of_names(("first", "second")), contextual=True)
    return Log(arm, ("a", "b", "c"), reward, probability, contexts, schema)


def target(context: np.ndarray) -> np.ndarray:
    return TARGET[int(2 * context[0] + context[1])]


def uniform_log(seed: int, number: int, *, events: int, means: Sequence[float]) -> Log:
    """No contexts; every arm equally likely."""
    rng = stream(seed, number)
    arm = rng.integers(0, len(means), events)
    reward = (rng.random(events) < np.array(means)[arm]).astype(float)
    names = tuple(str(i) for i in range(len(means)))
    return Log(arm, names, reward, np.full(events, 1 / len(means)), np.empty((events, 0)))


def learning_log(seed: int, number: int, *, events: int, means: Sequence[float]) -> Log:
    """No contexts; logged by epsilon-greedy, which learns from its own rewards."""
    rng, k = stream(seed, number), len(means)
    pulls, total = np.ones(k), np.full(k, 0.5)
    arm, reward, probability = [], [], []
    for _ in range(events):
        law = np.full(k, 0.3 / k)
        law[np.argmax(total / pulls)] += 0.7
        arm.append(int(drawn(law[None], rng)[0]))
        probability.append(law[arm[-1]])
        reward.append(float(rng.random() < means[arm[-1]]))
        pulls[arm[-1]] += 1
        total[arm[-1]] += reward[-1]
    names = tuple(str(i) for i in range(k))
    arrays = np.array(arm), names, np.array(reward), np.array(probability)
    return Log(*arrays, np.empty((events, 0)), adaptive=True)


def p_value_of_coverage(covered: Sequence[bool], level: float) -> float:
    return float(stats.binomtest(int(np.sum(covered)), len(covered), level).pvalue)


def assert_covers(covered: Sequence[bool], level: float, alpha: float = ALPHA) -> None:
    """Fail unless intervals cover the truth as often as their level says."""
    p_value = p_value_of_coverage(covered, level)
    assert p_value > alpha, f"p = {p_value:.2g}: covered {np.mean(covered):.3f}, wanted {level}"
