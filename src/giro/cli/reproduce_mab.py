"""`giro reproduce mab`: the paper's first figure, and whether its claims hold."""

import re
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from giro.cli import reproduce as command
from giro.cli.engine import Address, Engine
from giro.cli.output import print_json, print_line
from giro.cli.playing import INTERRUPTED, Place, finished_traces, say_what_is_there
from giro.cli.results import print_results
from giro.cli.targets import check_figures
from giro.cli.verdicts import print_claims, print_test
from giro.experiments.claims import Judgement, finding_records, judge, record
from giro.experiments.kept import Kept
from giro.experiments.paper import mab as paper
from giro.experiments.tables import curve_records, final_record
from giro.policy import Policy
from giro.simulation.trace import Trace

_WITH = "Further policies, as besa,phe:a=1.1."


@command.reproduce.command()
def mab(
    rounds: command.Rounds = paper.ROUNDS,
    runs: command.Runs = paper.RUNS,
    seed: command.Seed = 0,
    jobs: command.Jobs = None,
    also: Annotated[str, typer.Option("--with", metavar="POLICIES", help=_WITH)] = "",
    out: command.Out = Path("results/mab"),
    json: command.Json = False,
    engine: Engine = "threads",
    address: Address = None,
) -> None:
    """Compare Giro with UCB1, KL-UCB and Thompson sampling, and judge the paper's claims.

    Kveton et al. (2019), Section 6.1: ten arms, Bernoulli and beta rewards. The paper does not
    say which c its KL-UCB uses; c = 3 is drawn and judged, c = 0 is judged as well.

    \b
    Examples:
      giro reproduce mab
      giro reproduce mab --runs 20 --rounds 1000 --out quick
      giro reproduce mab --with besa,phe:a=1.1 --json
    """
    further = split_policies(also)
    experiment = paper.experiment(rounds=rounds, runs=runs, seed=seed, also=further)
    check_figures(out)
    place = Place(Kept(out), jobs, engine, address)
    traces, interrupted = finished_traces(experiment, place)
    outcome = _outcome(traces, further, judged=not interrupted)
    if json:
        print_json(_document(outcome))
    else:
        _print(outcome, runs)
    if interrupted:
        say_what_is_there(experiment, traces, place.kept)
        raise typer.Exit(INTERRUPTED)
    made_by = f"giro reproduce mab --rounds {rounds} --runs {runs} --seed {seed}"
    _write(out, outcome, made_by + (f" --with {also}" if also else ""))


def split_policies(text: str) -> list[str]:
    """Return the policies in a list whose commas also stand between parameters.

    >>> split_policies("besa,weighted-bootstrap:zeros=1,ones=2,phe:a=1.1")
    ['besa', 'weighted-bootstrap:zeros=1,ones=2', 'phe:a=1.1']
    """
    parts = re.split(r",(?=\s*[a-z][\w-]*\s*(?:[:,]|$))", text.strip())
    return [part.strip() for part in parts if part.strip()]


class _Outcome(NamedTuple):
    traces: list[Trace]
    drawn: list[Trace]  # without KL-UCB's other c, unless it was asked for
    claims: list[Judgement]
    variants: list[Judgement]  # with KL-UCB's other c


def _outcome(traces: list[Trace], further: list[str], *, judged: bool) -> _Outcome:
    shown = {*paper.POLICIES, *(Policy.parse(text).text for text in further)}
    drawn = [trace for trace in traces if trace.setting.policy in shown]
    if not judged:
        return _Outcome(traces, drawn, [], [])
    claims = paper.claims(traces)
    judgements = judge(claims + paper.variants(traces))  # one family
    return _Outcome(traces, drawn, judgements[: len(claims)], judgements[len(claims) :])


def _print(outcome: _Outcome, runs: int) -> None:
    print_results(outcome.traces, runs=runs)
    judgements = outcome.claims + outcome.variants
    if judgements:
        print_line()
        print_claims(judgements)
        print_line()
        print_test(sum(len(judgement.findings) for judgement in judgements))


def _document(outcome: _Outcome) -> dict[str, object]:
    """Return the paper's finals and claims, and apart from them those with KL-UCB's c = 0."""
    return {
        "finals": [final_record(trace) for trace in outcome.drawn],
        "claims": [record(judgement) for judgement in outcome.claims],
        "variants": {
            "finals": [
                final_record(trace)
                for trace in outcome.traces
                if trace.setting.policy == paper.KL_UCB_GREEDIER
            ],
            "claims": [record(judgement) for judgement in outcome.variants],
        },
    }


def _write(out: Path, outcome: _Outcome, made_by: str) -> None:
    from giro.plots import regret_figure  # noqa: PLC0415  # quick start without matplotlib

    judgements = outcome.claims + outcome.variants
    tables = {
        "curves": [point for trace in outcome.traces for point in curve_records(trace)],
        "finals": [final_record(trace) for trace in outcome.traces],
        "claims": [record(judgement) for judgement in judgements],
        "comparisons": [line for judgement in judgements for line in finding_records(judgement)],
    }
    command.write_tables(out, tables, made_by)
    figure = regret_figure(outcome.drawn, names=paper.TITLES | paper.LABELS)
    command.write_figure(out, figure, made_by)
