"""`giro reproduce linear-regret`: why bootstrapping needs pseudo rewards."""

import itertools
import math
from pathlib import Path
from typing import Any, NamedTuple

import typer

from giro.cli import reproduce as command
from giro.cli.engine import Address, Engine
from giro.cli.output import Column, print_json, print_line, print_table
from giro.cli.playing import INTERRUPTED, Place, finished_traces, say_what_is_there
from giro.cli.results import decimals_for, number
from giro.cli.targets import check_figures
from giro.cli.verdicts import print_claims, print_test
from giro.experiments.claims import Judgement, finding_records, judge, record
from giro.experiments.kept import Kept
from giro.experiments.tables import curve_records
from giro.simulation.trace import Trace


@command.reproduce.command()
def linear_regret(
    rounds: command.Rounds = 5_000,
    runs: command.Runs = 2_000,
    seed: command.Seed = 0,
    jobs: command.Jobs = None,
    out: command.Out = Path("results/linear-regret"),
    json: command.Json = False,
    engine: Engine = "threads",
    address: Address = None,
) -> None:
    """Compare the regret of plain bootstrapping with the paper's linear lower bounds.

    Kveton et al. (2019), Section 3.1: two Bernoulli arms, each first pulled k times; then the
    bootstrap without pseudo rewards. Giro plays the same problems. For the first rounds regret is
    also computed exactly.

    \b
    Examples:
      giro reproduce linear-regret
      giro reproduce linear-regret --runs 200 --rounds 1000 --out quick
    """
    from giro.experiments.paper import linear_regret as paper  # noqa: PLC0415  # quick start

    experiment = paper.experiment(rounds=rounds, runs=runs, seed=seed)
    check_figures(out)
    place = Place(Kept(out), jobs, engine, address)
    traces, interrupted = finished_traces(experiment, place)
    outcome = _outcome(traces, rounds, judged=not interrupted)
    if json:
        claims = [record(judgement) for judgement in outcome.simulated + outcome.certain]
        print_json({"finals": outcome.finals, "claims": claims, "exact": outcome.exact})
    else:
        _print(outcome)
    if interrupted:
        say_what_is_there(experiment, traces, place.kept)
        raise typer.Exit(INTERRUPTED)
    made_by = f"giro reproduce linear-regret --rounds {rounds} --runs {runs} --seed {seed}"
    _write(out, traces, outcome, made_by)


class _Outcome(NamedTuple):
    finals: list[dict[str, Any]]
    exact: list[dict[str, Any]]  # of the first rounds
    simulated: list[Judgement]
    certain: list[Judgement]  # claims about exact regret


def _outcome(traces: list[Trace], rounds: int, *, judged: bool) -> _Outcome:
    from giro.experiments.paper import linear_regret as paper  # noqa: PLC0415  # quick start

    smalls = list(paper.exact(rounds))
    pairs = [(trace, paper.exact_of(trace, smalls)) for trace in traces]
    return _Outcome(
        [paper.final_row(trace) for trace in traces],
        [row for trace, small in pairs if small for row in paper.exact_rows(trace, small)],
        judge(paper.claims(traces)) if judged else [],
        judge(paper.exact_claims(smalls)),
    )


def _print(outcome: _Outcome) -> None:
    for problem, rows in itertools.groupby(outcome.finals, key=lambda row: row["problem"]):
        _print_problem(problem, list(rows), outcome.exact)
        print_line()
    print_claims(outcome.simulated + outcome.certain)
    print_line()
    if outcome.simulated:
        print_test(sum(len(judgement.findings) for judgement in outcome.simulated))


def _print_problem(problem: str, finals: list[dict[str, Any]], exact: list[dict[str, Any]]) -> None:
    """Print regret and bounds at the end and, if known exactly, after the first rounds."""
    first = finals[0]
    small = {row["policy"]: row for row in exact if row["problem"] == problem}  # the last round
    columns = [_numbers(finals, "regret", "regret_se", "bound")]
    titles = [f"regret, {first['rounds']} rounds", "se", "bound"]
    if small:
        early = [small.get(row["policy"], {}) for row in finals]
        columns.append(_numbers(early, "exact", "simulated", "simulated_se", "bound"))
        titles += [f"exact, {early[0]['round']} rounds", "simulated", "se", "bound"]
    print_line(f"problem  {problem}")
    print_line(f"rounds   {first['rounds']}   runs {first['runs']}   seed {first['seed']}")
    print_line()
    names = [[row["policy"]] for row in finals]
    print_table(
        [Column("policy"), *(Column(title, right=True) for title in titles)],
        [[*itertools.chain(*cells)] for cells in zip(names, *columns, strict=True)],
    )


def _numbers(rows: list[dict[str, Any]], *keys: str) -> list[list[str]]:
    """Return the numbers of each row, with as many decimals as their standard errors deserve."""
    (error,) = (key for key in keys if key.endswith("_se"))
    decimals = decimals_for([row[error] for row in rows if row])
    values = [[row.get(key) for key in keys] for row in rows]
    return [
        [number(math.nan if value is None else value, decimals) for value in row] for row in values
    ]


def _write(out: Path, traces: list[Trace], outcome: _Outcome, made_by: str) -> None:
    judgements = outcome.simulated + outcome.certain
    tables = {
        "curves": [point for trace in traces for point in curve_records(trace)],
        "finals": outcome.finals,
        "exact": outcome.exact,
        "claims": [record(judgement) for judgement in judgements],
        "comparisons": [line for judgement in judgements for line in finding_records(judgement)],
    }
    command.write_tables(out, tables, made_by)
    command.write_figure(out, _figure(traces), made_by)


def _figure(traces: list[Trace]) -> Any:
    from giro.experiments.paper import linear_regret as paper  # noqa: PLC0415  # quick start
    from giro.plots import Beside, bound_figure  # noqa: PLC0415  # quick start

    smalls = list(paper.exact(traces[0].setting.rounds))
    exact = [paper.exact_of(trace, smalls) for trace in traces]
    besides = [
        Beside(paper.bounds(trace), small.regret if small else None)
        for trace, small in zip(traces, exact, strict=True)
    ]
    return bound_figure(traces, besides, names=paper.TITLES | paper.LABELS)
