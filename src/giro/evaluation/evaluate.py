"""evaluate: a log and a policy -> estimates of the policy's mean reward."""

from collections.abc import Sequence
from typing import Any

from giro.checks import LEVEL, POSITIVE, check, finite_range, optional, whole
from giro.errors import BadParameter, UnknownName
from giro.evaluation.estimators import (
    INTERVALS,
    Question,
    estimator_named,
    ratio_estimate,
)
from giro.evaluation.readers import read_log
from giro.evaluation.result import Evaluation, Row
from giro.evaluation.reward_model import checked_predictions
from giro.evaluation.target import Learning
from giro.progress import shown
from giro.seeds import stream

_FOLDS = 5


def evaluate(
    events: Any,
    policy: Any,
    *,
    estimators: Sequence[str] = ("ips", "snips", "dr"),
    level: float = 0.95,
    interval: str = "normal",
    clip: float | None = None,
    reward_range: tuple[float, float] | None = None,
    folds: int | None = None,
    model: Any = None,
    predicted: Any = None,
    votes: int = 100,
    seed: int = 0,
    progress: bool = True,
) -> Evaluation:
    """Return estimates of the reward per event that `policy` would have had, from a log.

    `events` is a bandit's events, or anything that `giro.evaluation.read_log` reads with its
    defaults. `policy` is one of

    - a giro policy or its text. It is led through the log: before each event its probabilities
      are found, then it learns the logged reward, all as a bandit with the log's schema would do
      it. For a policy that learns, the number is thus
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
    for bias. See `estimators.ratio_estimate` for `interval`. `reward_range` maps rewards to the
    [0, 1] that policies learn from; estimates keep the log's units. `model` is the one in dr, any
    of `giro.models` (see `giro.evaluation.fitted_rewards`), and `folds` are those that it is fitted
    in: 5, or for a bandit's own events none, then an event's model knows earlier events only.
    `predicted` is an array [event, arm] of the rewards that you expect, which takes its place; they
    should not come from the event itself. `votes` are the choices from which probabilities are
    found where a policy cannot tell them. A terminal or a notebook shows after two seconds how far
    it is, unless `progress` is False.

    >>> log = {"arm": ["a", "b"] * 50, "reward": [1, 0] * 50, "probability": [0.5] * 100}
    >>> evaluate(log, "always:a")["snips"].value
    1.0
    """
    log = read_log(events, progress=progress)
    learning = Learning(votes, seed, None if reward_range is None else finite_range(reward_range))
    _check(estimators, level, interval, clip, learning)
    if folds is None and not log.adaptive:
        folds = _FOLDS
    if predicted is not None:
        predicted = checked_predictions(predicted, log)
    question = Question(
        log, policy, learning, clip=clip, folds=folds, model=model, predicted=predicted
    )
    rows = []
    with shown("giro evaluates a policy", wanted=progress):
        for position, name in enumerate(estimators):
            terms, rng = estimator_named(name)(question), stream(seed, 2, position)
            estimate = ratio_estimate(terms, level=level, interval=interval, rng=rng)
            policy_name, events_used, effective, largest, clipped, notes = terms.sample
            sizes = (events_used, effective, largest, clipped)
            rows.append(Row(policy_name, name, *estimate, *sizes, "; ".join(notes)))
    return Evaluation(tuple(rows), level, log.events, log.left_out)


def _check(
    estimators: Sequence[str], level: float, interval: str, clip: float | None, learning: Learning
) -> None:
    if isinstance(estimators, str) or not estimators:
        raise BadParameter(f"estimators is a list like ['ips', 'dr'], got {estimators!r}")
    for name in estimators:
        estimator_named(name)
    if len(set(estimators)) < len(estimators):
        raise BadParameter(f"an estimator is listed twice among {', '.join(estimators)}")
    if interval not in INTERVALS:
        raise UnknownName("interval", interval, known=INTERVALS)
    check("an evaluation", LEVEL, level=level)
    check("an evaluation", optional(POSITIVE), clip=clip)
    check("an evaluation", whole(0), seed=learning.seed)
    check("an evaluation", whole(1), votes=learning.votes)
