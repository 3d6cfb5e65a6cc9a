"""evaluate: a log and a policy -> estimates of the policy's mean reward."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from giro.checks import LEVEL, POSITIVE, check, finite_range, optional, whole
from giro.errors import BadParameter, UnknownName
from giro.evaluation.estimators import (
    ESTIMATORS,
    Inputs,
    Interval,
    RatioEstimate,
    Terms,
    notes_on,
    ratio_estimate,
    weights_of,
)
from giro.evaluation.log import Log
from giro.evaluation.readers import read_log
from giro.evaluation.result import Evaluation, Row
from giro.evaluation.reward_model import checked_predictions, fitted_rewards
from giro.evaluation.target import (
    ALWAYS,
    LOGGED,
    Learning,
    replayed,
    replayed_target,
    target_of,
)
from giro.policy import Policy
from giro.seeds import stream

Estimator: TypeAlias = Literal["ips", "snips", "dr", "replay", "rejection-replay"]

_FOLDS = 5


class _Settings(NamedTuple):
    learning: Learning
    level: float
    interval: Interval
    clip: float | None
    folds: int | None
    predicted: np.ndarray | None


def evaluate(
    events: Any,
    policy: Any,
    *,
    estimators: Sequence[Estimator] = ("ips", "snips", "dr"),
    level: float = 0.95,
    interval: Interval = "normal",
    clip: float | None = None,
    reward_range: tuple[float, float] | None = None,
    folds: int | None = None,
    predicted: Any = None,
    votes: int = 100,
    seed: int = 0,
) -> Evaluation:
    """Return estimates of the reward per event that `policy` would have had, from a log.

    `events` is a bandit's events, or anything that `giro.evaluation.read_log` reads with its
    defaults. `policy` is one of

    - a giro policy or its text. It is led through the log: before each event its probabilities
      are found, then it learns the logged reward. For a policy that learns, the number is thus
      the mean reward of *its choices after learning from the log so far*. It is not the reward of
      letting it learn by itself from its own choices; for that, ask for `replay`.
    - a target that does not learn: a mapping of arms to probabilities, a function that gives such
      a mapping or the probabilities of all arms at a context, or an array [event, arm]; arms in the
      order of the log's `arm_names`, which are places in the offer where arms come and go.
    - "logged" for the policy that made the log, "always:ARM" for one arm.

    Where some arms were not eligible, a giro policy is offered the others only; probabilities of a
    target that does not learn are scaled to them.

    Estimators are "ips" (unbiased), "snips" (smaller variance, bias of order 1 / events), "dr"
    (unbiased, small variance where rewards can be predicted), "replay" (uniform logs only) and
    "rejection-replay" (any log, thinned to a uniform one). `clip` cuts weights to trade variance
    for bias. See `estimators.estimate` for `interval`. `reward_range` maps rewards to the [0, 1]
    that policies learn from; estimates keep the log's units. `folds` are those of the model in dr:
    5, or for a bandit's own events none, then an event's model knows earlier events only.
    `predicted` is an array [event, arm] of the rewards that a model of yours expects, which takes
    its place; it should not have seen the event, as `giro.evaluation.fitted_rewards` has not.
    `votes` are the choices from which probabilities are found where a policy cannot tell them.

    >>> log = {"arm": ["a", "b"] * 50, "reward": [1, 0] * 50, "probability": [0.5] * 100}
    >>> evaluate(log, "always:a")["snips"].value
    1.0
    """
    log = read_log(events)
    learning = Learning(votes, seed, None if reward_range is None else finite_range(reward_range))
    settings = _checked(_Settings(learning, level, interval, clip, folds, None), estimators)
    if folds is None and not log.adaptive:
        settings = settings._replace(folds=_FOLDS)
    if predicted is not None:
        settings = settings._replace(predicted=checked_predictions(predicted, log))
    weighted = [name for name in estimators if name in ESTIMATORS]
    rows = [*_weighted_rows(log, policy, weighted, settings)] if weighted else []
    rows += [_replay_row(log, policy, name, settings) for name in estimators if "replay" in name]
    order = {name: i for i, name in enumerate(estimators)}
    rows.sort(key=lambda row: order[row.estimator])  # type: ignore[index]  # a row has a known one
    return Evaluation(tuple(rows), level, log.events, log.left_out)


def _weighted_rows(
    log: Log, policy: Any, estimators: Sequence[str], settings: _Settings
) -> Iterator[Row]:
    target = target_of(policy, log, settings.learning)
    weights = weights_of(target, log, settings.clip)
    low, high = settings.learning.reward_range or (float(log.reward.min()), float(log.reward.max()))
    predicted = settings.predicted
    if predicted is None and "dr" in estimators:
        predicted = fitted_rewards(log, settings.folds)
    inputs = Inputs(log, target, weights, predicted, low, high)
    notes = [*notes_on(weights), *([target.note] if target.note else [])]
    for position, name in enumerate(estimators):
        terms = ESTIMATORS[name](inputs)
        if weights.effective == 0.0:
            terms = Terms(terms.numerator, np.zeros(log.events), terms.span)
        yield Row(
            target.name,
            name,
            *_estimated(terms, settings, position),
            events=log.events,
            effective=weights.effective,
            largest=float(weights.each.max()),
            clipped=weights.clipped,
            note="; ".join(notes),
        )


def _replay_row(log: Log, policy: Any, name: str, settings: _Settings) -> Row:
    rejection = name == "rejection-replay"
    fixed = isinstance(policy, str) and (policy == LOGGED or policy.startswith(ALWAYS))
    if isinstance(policy, str | Policy) and not fixed:
        policy = Policy.parse(policy)
        kept = replayed(policy, log, settings.learning, rejection=rejection)
        called = policy.text
    else:
        target = target_of(policy, log, settings.learning)
        kept = replayed_target(target, log, settings.learning, rejection=rejection)
        called = target.name
    rewards = log.reward[kept]
    span = float(np.ptp(log.reward))
    terms = Terms(rewards, np.ones(kept.size), span)
    return Row(
        called,
        name,
        *_estimated(terms, settings, len(ESTIMATORS)),
        events=kept.size,
        effective=float(kept.size),
        largest=1.0 if kept.size else 0.0,
        clipped=0,
        note=f"kept {kept.size} of {log.events} events",
    )


def _estimated(terms: Terms, settings: _Settings, position: int) -> RatioEstimate:
    rng = stream(settings.learning.seed, 2, position)
    return ratio_estimate(terms, level=settings.level, interval=settings.interval, rng=rng)


def _checked(settings: _Settings, estimators: Sequence[str]) -> _Settings:
    if isinstance(estimators, str) or not estimators:
        raise BadParameter(f"estimators is a list like ['ips', 'dr'], got {estimators!r}")
    for name in estimators:
        if name not in get_args(Estimator):
            raise UnknownName("estimator", name, known=get_args(Estimator))
    if len(set(estimators)) < len(estimators):
        raise BadParameter(f"an estimator is listed twice among {', '.join(estimators)}")
    if settings.interval not in get_args(Interval):
        raise UnknownName("interval", settings.interval, known=get_args(Interval))
    check("an evaluation", LEVEL, level=settings.level)
    check("an evaluation", optional(POSITIVE), clip=settings.clip)
    check("an evaluation", whole(0), seed=settings.learning.seed)
    check("an evaluation", whole(1), votes=settings.learning.votes)
    return settings
