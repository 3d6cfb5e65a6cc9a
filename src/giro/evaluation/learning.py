"""A learning policy led through a log: its probabilities before each event."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from giro.errors import GiroError
from giro.evaluation.log import Log
from giro.kernel import borrowed, is_kernel, kernel, plain
from giro.policy import Context, Policy, choose, learn, start
from giro.seeds import stream


class Walk(NamedTuple):
    """The probabilities that a policy gives to all arms, before each event."""

    probabilities: np.ndarray  # [event, arm]
    voted: int  # events whose probabilities are shares of a vote, not exact


class _Events(NamedTuple):
    """What a policy sees of a log."""

    contexts: np.ndarray  # [event, feature]
    arm: np.ndarray  # [event]
    reward: np.ndarray  # [event] in [0, 1]


def walk(policy: Policy, log: Log, rewards: np.ndarray, *, votes: int, seed: int) -> Walk:
    """Return the policy's probabilities before each event, after learning from all earlier ones.

    They are exact where the policy can tell them, and else the shares of the arms in `votes`
    independent choices. Such shares are right on average and do not depend on the logged reward,
    so that estimates that are linear in them (IPS, DR) stay unbiased.
    """
    state = _started(policy, log, seed)
    events = _Events(np.ascontiguousarray(log.contexts, np.float64), log.arm, rewards)
    exact = getattr(type(policy), "propensities", None)
    if exact is not None:
        vote = _vote if is_compiled(policy) else plain(_vote)
        ask = functools.partial(_asked, exact, vote, votes, len(log.arm_names))
        return _exact_walk(ask, state, events, seed)
    counts = np.zeros((log.events, len(log.arm_names)), np.int64)
    loop = _voting_walk if is_compiled(policy) else plain(_voting_walk)
    wrong = loop(state, events, votes, stream(seed, 0, 1), stream(seed, 0, 2), counts)
    if wrong >= 0:
        raise GiroError(f"event {wrong + 1}: {policy} chose an arm that there is not")
    return Walk(counts / votes, log.events)


def is_compiled(policy: Policy) -> bool:
    """Tell whether the policy consists of kernels."""
    return is_kernel(policy.choose) and is_kernel(policy.learn)


def _started(policy: Policy, log: Log, seed: int) -> Any:
    n_arms, n_features = len(log.arm_names), log.contexts.shape[1]
    return start(policy, n_arms, n_features, log.events, stream(seed, 0, 0))


@kernel
def _voting_walk(
    state: Any,
    events: _Events,
    votes: int,
    learning_rng: np.random.Generator,
    voting_rng: np.random.Generator,
    counts: np.ndarray,
) -> int:
    """Count the votes before each event; return the event of an illegal choice, or -1."""
    state = borrowed(state)
    for t in range(events.arm.size):
        if not _vote(state, events.contexts[t], votes, voting_rng, counts[t]):
            return t
        learn(state, events.contexts[t], events.arm[t], events.reward[t], learning_rng)
    return -1


@kernel
def _vote(
    state: Any, context: Context, votes: int, rng: np.random.Generator, counts: np.ndarray
) -> bool:
    """Count how often each arm is chosen; stop and return False at an illegal choice."""
    for _ in range(votes):
        arm = choose(state, context, rng)
        if not 0 <= arm < counts.size:
            return False
        counts[arm] += 1
    return True


def _exact_walk(ask: Callable[..., Any], state: Any, events: _Events, seed: int) -> Walk:
    learning_rng, voting_rng = stream(seed, 0, 1), stream(seed, 0, 2)
    rows, voted = [], 0
    for context, arm, reward in zip(*events, strict=True):
        row, is_vote = ask(state, context, voting_rng)
        rows.append(row)
        voted += is_vote
        learn(state, context, int(arm), float(reward), learning_rng)
    return Walk(np.array(rows), voted)


def _asked(
    exact: Callable[..., Any],
    vote: Callable[..., bool],
    votes: int,
    n_arms: int,
    state: Any,
    context: Context,
    rng: np.random.Generator,
) -> tuple[np.ndarray, bool]:
    """Return the policy's own probabilities, or a vote where it has none in this state."""
    row = np.array(exact(state, context), float)
    if row.size:
        return row, False
    counts = np.zeros(n_arms, np.int64)
    if not vote(state, context, votes, rng, counts):
        raise GiroError("the policy chose an arm that there is not")
    return counts / votes, True
