"""Bootstrapping alone has linear regret (Kveton et al., 2019, Section 3.1, Lemma 1)."""

import functools
import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from giro.cli.output import print_line, print_table
from giro.paper.claims import (
    Claim,
    Comparison,
    beats,
    grows_linearly,
    grows_logarithmically,
    judge,
    verdict_table,
)
from giro.paper.study import Outcome, Study, show_test, tables_of
from giro.paper.theory.exact import linear_regret_bound, linear_regret_rows
from giro.policy import Policy
from giro.problem import Problem
from giro.problems.bernoulli import Bernoulli
from giro.simulation.metrics import Estimate, estimate, final_record
from giro.simulation.simulate import Experiment
from giro.simulation.trace import Trace
from giro.tables import Column, Record, decimals_for, fixed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROUNDS, RUNS, POINTS = 5_000, 2_000, 120
MEANS = ((0.8, 0.6), (0.5, 0.4), (0.3, 0.2))  # of the two arms, one problem each
PULLS = (1, 2, 3)  # initial pulls of each arm
SMALL = 12  # rounds for which regret is also computed exactly
GIRO = "giro:a=1"

TITLES = {Bernoulli(means=(m, other)).text: f"μ = {m}, {other}" for m, other in MEANS}
LABELS = {
    "bootstrap:pulls=1": "bootstrap, 1 initial pull",
    "bootstrap:pulls=2": "bootstrap, 2 initial pulls",
    "bootstrap:pulls=3": "bootstrap, 3 initial pulls",
    GIRO: "Giro, a = 1",
}


class Small(NamedTuple):
    """Exact regret after the first rounds, next to the bound."""

    problem: str
    pulls: int
    regret: np.ndarray  # [n - 1] after round n
    bound: np.ndarray  # [n - 1]


def experiment(*, rounds: int = ROUNDS, runs: int = RUNS, seed: int = 0) -> Experiment:
    """Return bootstrapping with few initial pulls, and Giro, on two-armed Bernoulli problems."""
    problems = [Bernoulli(means=means) for means in MEANS]
    policies = [*(f"bootstrap:pulls={pulls}" for pulls in PULLS), GIRO]
    return Experiment(problems, policies, rounds, runs, seed, POINTS, "log")


def study(*, rounds: int, runs: int, seed: int) -> Study:
    """Return the study of Lemma 1: regret with its bounds, and exactly in the first rounds."""
    return Study(
        f"giro reproduce linear-regret --rounds {rounds} --runs {runs} --seed {seed}",
        partial(_outcome, rounds),
        [experiment(rounds=rounds, runs=runs, seed=seed)],
    )


def _outcome(rounds: int, traces: list[Trace], complete: bool) -> Outcome:
    smalls = list(exact(rounds))
    simulated = judge(claims(traces)) if complete else []
    verdicts = simulated + judge(exact_claims(smalls))
    finals = [final_row(trace) for trace in traces]
    pairs = [(trace, exact_of(trace, smalls)) for trace in traces]
    early = [row for trace, small in pairs if small for row in exact_rows(trace, small)]

    def show() -> None:
        for problem, rows in itertools.groupby(finals, key=lambda row: row["problem"]):
            _show_problem(list(rows), [row for row in early if row["problem"] == problem])
            print_line()
        print_table(*verdict_table(verdicts))
        print_line()
        if simulated:
            show_test(sum(len(verdict.findings) for verdict in simulated))

    tables = tables_of(traces, verdicts) | {"finals": finals, "exact": early}
    document = {"finals": finals, "claims": tables["claims"], "exact": early}
    return Outcome(tables, document, show, partial(_figures, pairs))


def _show_problem(finals: Sequence[Record], early: Sequence[Record]) -> None:
    """Print regret and bounds at the end and, if known exactly, after the first rounds."""
    first = finals[0]
    print_line(f"problem  {first['problem']}")
    print_line(f"rounds   {first['rounds']}   runs {first['runs']}   seed {first['seed']}")
    print_line()
    late = fixed(decimals_for([row["regret_se"] for row in finals]))
    columns = [
        Column("policy"),
        Column("regret", f"regret, {first['rounds']} rounds", late),
        Column("regret_se", "se", late),
        Column("bound", show=late),
    ]
    if not early:
        print_table(columns, finals)
        return
    last = {row["policy"]: row for row in early}  # after the last of the first rounds
    show = fixed(decimals_for([row["simulated_se"] for row in last.values()]))
    columns += [
        Column("exact", f"exact, {early[-1]['round']} rounds", show),
        Column("simulated", show=show),
        Column("simulated_se", "se", show),
        Column("early_bound", "bound", show),
    ]
    unknown = dict.fromkeys(("exact", "simulated", "simulated_se", "bound"))
    records = [
        {**(small := last.get(row["policy"], unknown)), "early_bound": small["bound"], **row}
        for row in finals
    ]
    print_table(columns, records)


def _figures(pairs: "Sequence[tuple[Trace, Small | None]]") -> "dict[str, Figure]":
    from giro.plots import Beside, bound_figure  # noqa: PLC0415  # quick start without matplotlib

    besides = [Beside(bounds(trace), small.regret if small else None) for trace, small in pairs]
    traces = [trace for trace, _ in pairs]
    return {"regret": bound_figure(traces, besides, names=TITLES | LABELS)}


def claims(traces: Sequence[Trace]) -> list[Claim]:
    """Return claims about these traces: the bounds, and the difference to Giro."""
    by_pulls = {k: [trace for trace in traces if pulls_of(trace) == k] for k in PULLS}
    giro = {trace.setting.problem: trace for trace in traces if pulls_of(trace) == 0}
    alone = [trace for group in by_pulls.values() for trace in group]
    return [
        *(Claim(f"k = {k}", _text(k), [_above(t) for t in by_pulls[k]]) for k in PULLS),
        Claim("linear", "Bootstrapping's regret grows linearly", list(map(grows_linearly, alone))),
        Claim(
            "giro",
            "Giro's regret grows logarithmically",
            list(map(grows_logarithmically, giro.values())),
        ),
        Claim(
            "less",
            "Giro beats bootstrapping for all initial pulls",
            [beats(giro[trace.setting.problem], trace) for trace in alone],
        ),
    ]


def bounds(trace: Trace) -> np.ndarray | None:
    """Return the paper's lower bound after each checkpoint, 0 where it is empty, [point]."""
    pulls = pulls_of(trace)
    if pulls == 0:
        return None
    values = [linear_regret_bound(_means(trace), int(n), pulls) for n in trace.checkpoints]
    return np.maximum(values, 0.0)


def final_row(trace: Trace) -> dict[str, Any]:
    """Return the regret at the end and its bound."""
    bound = bounds(trace)
    return final_record(trace) | {"bound": None if bound is None else float(bound[-1])}


def exact_rows(trace: Trace, small: Small) -> Iterator[dict[str, Any]]:
    """Yield exact and simulated regret, and the bound, after each of the first rounds."""
    for point, n in enumerate(trace.checkpoints[trace.checkpoints <= small.regret.size].tolist()):
        simulated = estimate(trace.regret[:, point])
        yield {
            "problem": small.problem,
            "policy": trace.setting.policy,
            "round": n,
            "bound": max(0.0, float(small.bound[n - 1])),
            "exact": float(small.regret[n - 1]),
            "simulated": simulated.mean,
            "simulated_se": simulated.se,
        }


@functools.cache  # a few seconds
def exact(rounds: int = SMALL) -> tuple[Small, ...]:
    """Return the exact regret of every problem and number of initial pulls in the first rounds."""
    smalls = []
    for means, pulls in itertools.product(MEANS, PULLS):
        rows = linear_regret_rows(means, min(rounds, SMALL), pulls)
        regret, bound = (np.array(side) for side in list(zip(*rows, strict=True))[1:3])
        smalls.append(Small(Bernoulli(means=means).text, pulls, regret, bound))
    return tuple(smalls)


def exact_of(trace: Trace, smalls: Sequence[Small]) -> Small | None:
    """Return the exact regret of the policy and problem of this trace, if known."""
    wanted = (trace.setting.problem, pulls_of(trace))
    return next((small for small in smalls if (small.problem, small.pulls) == wanted), None)


def exact_claims(smalls: Sequence[Small]) -> list[Claim]:
    """Return the bounds as claims about exact regret, without any randomness."""
    n = smalls[0].regret.size
    return [
        Claim(
            f"k = {k}, exact",
            f"{_text(k)}, for n ≤ {n}",
            [_exactly_above(small) for small in smalls if small.pulls == k],
        )
        for k in PULLS
        if n > k
    ]


def pulls_of(trace: Trace) -> int:
    """Return the initial pulls of each arm, 0 for Giro, which needs none."""
    return int(getattr(Policy.parse(trace.setting.policy), "pulls", 0))


def _means(trace: Trace) -> tuple[float, ...]:
    """Return the means of the arms."""
    problem = Problem.parse(trace.setting.problem)
    assert isinstance(problem, Bernoulli)
    assert problem.means is not None
    return problem.means


def _above(trace: Trace) -> Comparison:
    """Return the excess of the final regret over its bound."""
    bound = linear_regret_bound(_means(trace), trace.setting.rounds, pulls_of(trace))
    gain = estimate(trace.regret[:, -1] - bound)
    return Comparison(
        f"{trace.setting.policy} against its bound",
        trace.setting.problem,
        "regret",
        gain,
        trace.runs.size,
    )


def _exactly_above(small: Small) -> Comparison:
    """Return the least excess over the bound from the first round in which it is positive."""
    excess = float((small.regret - small.bound)[small.pulls :].min())
    certain = Estimate(excess, 0.0, excess, excess)
    what = f"bootstrap:pulls={small.pulls} against its bound"
    return Comparison(what, small.problem, "regret", certain, 1)


def _text(pulls: int) -> str:
    if pulls == 1:
        return "Lemma 1: regret with 1 initial pull is at least ½(1−μ₁)Δ(n−1)"
    return f"Regret with {pulls} initial pulls is at least ½(1−μ₁)^{pulls} Δ(n−{pulls})"
