"""Settings that the paper leaves open: the scaling of contexts and the fitting (Section 6.2)."""

import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from giro.cli.output import print_line, print_table
from giro.paper.claims import Played, Verdict, finding_records, judge, verdict_record
from giro.paper.studies.contextual import DATA, Fit, Setup, claims
from giro.paper.study import Outcome, Study
from giro.simulation.metrics import Estimate, estimate, final_record
from giro.simulation.simulate import Experiment
from giro.simulation.trace import Trace
from giro.tables import Column, Record, fixed

ROUNDS, RUNS = 10_000, 3
ScaleName: TypeAlias = Literal["column", "unit", "range"]
SCALES: tuple[ScaleName, ...] = get_args(ScaleName)
FITS: tuple[Fit, ...] = ("exact", "sgd")
SETUPS = tuple(Setup(scale, fit) for scale in SCALES for fit in FITS)
RULE = "the setting in which linear and logistic ε-greedy earn most, averaged over the data sets"


class Judged(NamedTuple):
    """The paper's claims in one setting."""

    setup: Setup
    earned: Estimate  # the reward that the rule uses, NaN if not everything was played
    verdicts: list[Verdict]


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


def verdicts(traces: Sequence[Trace]) -> list[Judged]:
    """Return the verdicts on the claims in each setting.

    Each comparison has the full level. The table shows which verdicts depend on the setting, and
    does not judge the paper.
    """
    return [
        Judged(setup, earned(setup, traces), judge(claims(setup, traces), family=1))
        for setup in SETUPS
    ]


def earned(setup: Setup, traces: Sequence[Trace]) -> Estimate:
    """Return the mean reward of linear and logistic ε-greedy over the data sets.

    Neither is Giro's, so this choice does not favour Giro. Only runs that all of them played count.
    """
    played = Played(traces)
    candidates = [
        played.find(setup.greedy(model), setup.problem(name))
        for name in DATA
        for model in ("linear", "logistic")
    ]
    greedy = [trace for trace in candidates if trace is not None]
    nothing = Estimate(math.nan, math.nan, math.nan, math.nan)
    if len(greedy) < len(candidates) or len({trace.setting.version for trace in greedy}) > 1:
        return nothing
    of_all = functools.reduce(np.intersect1d, [trace.runs for trace in greedy])
    rewards = []  # per round, of these runs in their order
    for trace in greedy:
        _, _, where = np.intersect1d(of_all, trace.runs, return_indices=True)
        rewards.append(trace.reward[where, -1] / trace.setting.rounds)
    return estimate(np.mean(rewards, axis=0)) if of_all.size else nothing


def chosen(table: Sequence[Judged]) -> Setup | None:
    """Return the setting that the rule picks, None if runs are missing."""
    if not table or any(math.isnan(row.earned.mean) for row in table):
        return None
    return max(table, key=lambda row: row.earned.mean).setup


def comparisons(table: Sequence[Judged]) -> Iterator[dict[str, Any]]:
    """Yield a row for each comparison behind the claims, in each setting."""
    for setup, _, judged in table:
        for verdict in judged:
            for line in finding_records(verdict):
                yield {"scale": setup.scale, "fit": setup.fit} | line


def rows(table: Sequence[Judged]) -> Iterator[dict[str, Any]]:
    """Yield a row for each claim and setting."""
    for setup, reward, judged in table:
        for verdict in judged:
            each = [finding.holds for finding in verdict.findings]
            yield verdict_record(verdict) | {
                "scale": setup.scale,
                "fit": setup.fit,
                "positive": verdict.in_favour,
                "holding": each.count(True),
                "failing": each.count(False),
                "rule": reward.mean,
                "rule_se": reward.se,
            }


def study(
    *,
    rounds: int,
    runs: int,
    seed: int,
    data: Sequence[str],
    scale: ScaleName | None,
    fit: Fit | None,
) -> Study:
    """Return the study of the settings. `scale` and `fit` limit the runs that this call plays."""
    setups = [s for s in SETUPS if scale in (None, s.scale) and fit in (None, s.fit)]
    most = max(runs, RUNS)  # others may have been played before
    parts = experiments(rounds=rounds, runs=runs, seed=seed, data=data, setups=setups)
    all_parts = experiments(rounds=rounds, runs=most, seed=seed)
    return Study(
        f"giro reproduce settings --rounds {rounds} --runs {most} --seed {seed}",
        _outcome,
        list(parts),
        judged=[work for part in all_parts for work in part.work],
        runs=most,
    )


def _outcome(traces: list[Trace], _: bool) -> Outcome:
    table = verdicts(traces)
    tables = {
        "claims": list(rows(table)),
        "comparisons": list(comparisons(table)),
        "finals": [final_record(trace) for trace in traces],
    }
    return Outcome(tables, tables, functools.partial(_show, table))


def _show(table: Sequence[Judged]) -> None:
    """Print a row for each claim and a column for each setting."""
    names = [f"{setup.scale}, {setup.fit}" for setup, *_ in table]
    lines: dict[str, dict[str, str]] = {}
    for name, row in zip(names, table, strict=True):
        for verdict in row.verdicts:
            line = {"number": verdict.number, "claim": verdict.claim} | dict.fromkeys(names, "")
            lines.setdefault(verdict.number, line)
            lines[verdict.number][name] = f"{verdict.summary}, {verdict.in_favour} for it"
    reward: Record = {"number": "", "claim": "reward of ε-greedy"} | {
        name: fixed(4)(mean) + ("" if math.isnan(se) else f" ± {se:.4f}")
        for name, (mean, se, *_) in zip(names, (row.earned for row in table), strict=True)
    }
    columns = [Column("number", ""), Column("claim", words=True), *map(Column, names)]
    print_table(columns, [*lines.values(), reward])
    print_line()
    picked = chosen(table)
    print_line(f"Rule: {RULE}.")
    print_line(f"Chosen: {picked.scale}, {picked.fit}." if picked else "Not all of it was played.")
