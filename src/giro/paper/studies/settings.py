"""What the paper leaves open: how contexts are scaled, and when fitting stops (Section 6.2)."""

import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from giro.paper.claims import Judgement, finding_records, judge, record
from giro.paper.played import Played
from giro.paper.studies.contextual import DATA, Fit, Setup, claims
from giro.simulation.experiment import Experiment
from giro.simulation.metrics import Estimate, estimate
from giro.simulation.trace import Trace

ROUNDS, RUNS = 10_000, 3
ScaleName: TypeAlias = Literal["column", "unit", "range"]
SCALES: tuple[ScaleName, ...] = get_args(ScaleName)
FITS: tuple[Fit, ...] = ("exact", "sgd")
SETUPS = tuple(Setup(scale, fit) for scale in SCALES for fit in FITS)
RULE = "the setting in which linear and logistic ε-greedy earn most, averaged over the data sets"


class Verdicts(NamedTuple):
    """The paper's claims in one setting."""

    setup: Setup
    earned: Estimate  # what the rule looks at, NaN if not everything was played
    judgements: list[Judgement]


def experiments(
    *,
    rounds: int = ROUNDS,
    runs: int = RUNS,
    seed: int = 0,
    data: Sequence[str] = DATA,
    setups: Sequence[Setup] = SETUPS,
) -> Iterator[Experiment]:
    """Yield the paper's policies in every setting, data set by data set."""
    for name in data:
        for setup in setups:
            problem, policies = setup.problem(name), setup.policies()
            yield Experiment([problem], policies, rounds, runs, seed)


def verdicts(traces: Sequence[Trace]) -> list[Verdicts]:
    """Return the claims' verdicts in each setting.

    Each comparison has the whole level: the table shows what depends on the setting, it does not
    judge the paper.
    """
    found = []
    for setup in SETUPS:
        judgements = judge(claims(setup, traces), family=1)
        found.append(Verdicts(setup, earned(setup, traces), judgements))
    return found


def earned(setup: Setup, traces: Sequence[Trace]) -> Estimate:
    """Return the mean reward of linear and logistic ε-greedy over the data sets.

    Neither is Giro's, so that choosing by it does not favour Giro. Of runs that some of them lack,
    nothing is said.
    """
    played = Played(traces)
    found = [
        played.find(setup.greedy(model), setup.problem(name))
        for name in DATA
        for model in ("linear", "logistic")
    ]
    there = [trace for trace in found if trace is not None]
    nothing = Estimate(math.nan, math.nan, math.nan, math.nan)
    if len(there) < len(found) or len({trace.setting.version for trace in there}) > 1:
        return nothing
    of_all = functools.reduce(np.intersect1d, [trace.runs for trace in there])
    each = [_rewards(trace, of_all) for trace in there]
    return estimate(np.mean(each, axis=0)) if of_all.size else nothing


def _rewards(trace: Trace, runs: np.ndarray) -> np.ndarray:
    """Return the reward per round of these runs, in their order."""
    _, _, where = np.intersect1d(runs, trace.runs, return_indices=True)
    return np.asarray(trace.reward[where, -1] / trace.setting.rounds)


def chosen(table: Sequence[Verdicts]) -> Setup | None:
    """Return the setting that the rule picks, None as long as something is missing."""
    if not table or any(math.isnan(row.earned.mean) for row in table):
        return None
    return max(table, key=lambda row: row.earned.mean).setup


def comparisons(table: Sequence[Verdicts]) -> Iterator[dict[str, Any]]:
    """Yield a row for each comparison behind the claims, in each setting."""
    for setup, _, judgements in table:
        for judgement in judgements:
            for line in finding_records(judgement):
                yield {"scale": setup.scale, "fit": setup.fit} | line


def rows(table: Sequence[Verdicts]) -> Iterator[dict[str, Any]]:
    """Yield a row for each claim and setting."""
    for setup, reward, judgements in table:
        for judgement in judgements:
            each = [finding.verdict for finding in judgement.findings]
            yield record(judgement) | {
                "scale": setup.scale,
                "fit": setup.fit,
                "positive": judgement.in_favour,
                "holding": each.count("holds"),
                "failing": each.count("fails"),
                "rule": reward.mean,
                "rule_se": reward.se,
            }
