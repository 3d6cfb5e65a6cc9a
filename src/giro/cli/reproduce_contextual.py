"""`giro reproduce contextual`: the paper's second figure, and whether its claims hold."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import typer

from giro.cli import reproduce as command
from giro.cli.engine import Address, Engine
from giro.cli.output import print_json, print_line
from giro.cli.playing import (
    INTERRUPTED,
    Place,
    check,
    finished_traces,
    say_what_is_judged,
    say_what_is_there,
)
from giro.cli.reproduce_mab import split_policies
from giro.cli.results import print_results
from giro.cli.targets import check_figures
from giro.cli.verdicts import print_claims, print_test
from giro.datasets.scaling import Scale
from giro.errors import UnknownName
from giro.experiments.claims import Judgement, finding_records, judge, record
from giro.experiments.kept import Evidence, Kept
from giro.experiments.paper import contextual as paper
from giro.experiments.tables import curve_records, final_record
from giro.policy import Policy
from giro.simulation.trace import Trace

_SCALE = "quick: 5,000 rounds, 2 runs; paper: 50,000 rounds, 5 runs (many hours)."
_ONLY = "Only these data sets, as statlog,adult."
_POLICIES = "Play only these policies, as lin-ucb,giro-ensemble:a=1."
_WITH = "Further policies, as giro-ensemble:a=1."
_CONTEXTS = "How contexts are scaled; the paper does not say."
_FIT = "Linear and logistic models fitted exactly, or by stochastic gradient."

_APART = "Not among the trends that the paper lists, and with a level of its own each: "


@command.reproduce.command()
def contextual(
    scale: Annotated[Literal["quick", "paper"], typer.Option(help=_SCALE)] = "quick",
    only: Annotated[str, command.option("DATA", _ONLY)] = "",
    policies: Annotated[str, command.option("POLICIES", _POLICIES)] = "",
    also: Annotated[str, typer.Option("--with", metavar="POLICIES", help=_WITH)] = "",
    contexts: Annotated[Scale, typer.Option(help=_CONTEXTS)] = "column",
    fit: Annotated[paper.Fit, typer.Option(help=_FIT)] = "exact",
    rounds: Annotated[int | None, command.option("N", "Rounds, if not those of --scale.")] = None,
    runs: Annotated[int | None, command.option("R", "Runs, if not those of --scale.")] = None,
    seed: command.Seed = 0,
    jobs: command.Jobs = None,
    out: Annotated[Path | None, command.option("FOLDER", "Default: results/contextual...")] = None,
    json: command.Json = False,
    fresh: command.Fresh = False,
    engine: Engine = "threads",
    address: Address = None,
) -> None:
    """Compare contextual Giro with LinUCB, LinTS and ε-greedy, and judge the paper's claims.

    Kveton et al. (2019), Section 6.2: Statlog, Covertype and Adult as bandits, reward per round.
    Each run is kept as it ends, and not computed again; tables, figure and verdicts are about all
    that is there of the paper's policies, of some beyond it and of those named, so the work can be
    done piece by piece with --only and --policies.

    \b
    Examples:
      giro reproduce contextual
      giro reproduce contextual --only statlog --policies lin-ucb,giro-ensemble
      giro reproduce contextual --only statlog --with giro-ensemble:a=1
      giro reproduce contextual --scale paper --only adult --runs 2
    """
    usual = paper.PAPER if scale == "paper" else paper.QUICK
    size = _Size(usual[0] if rounds is None else rounds, usual[1] if runs is None else runs, seed)
    setup = paper.Setup(contexts, fit)
    chosen, further = split_policies(policies), split_policies(also)
    part = paper.experiment(
        setup, **size._asdict(), data=split_data(only), policies=chosen, also=further
    )
    folder = out or Path("results") / ("contextual" if scale == "paper" else "contextual-quick")
    check_figures(folder)
    size = size._replace(runs=max(size.runs, usual[1]))  # others may have been played before
    further = _beyond_the_usual(setup, [*chosen, *further])
    whole = list(paper.experiment(setup, **size._asdict(), also=further).cells())
    kept = Kept(folder)
    check(kept, whole)
    traces, interrupted = finished_traces(part, Place(kept, jobs, engine, address, fresh))
    evidence = kept.evidence(whole, runs=size.runs)
    say_what_is_judged(evidence)
    outcome = _outcome(setup, evidence)
    if json:
        print_json(_document(outcome))
    else:
        _print(outcome, size.runs)
    if interrupted:
        say_what_is_there(part, traces, kept)
        raise typer.Exit(INTERRUPTED)
    made_by = f"giro reproduce contextual --scale {scale} {_said(size)} {_told(setup, further)}"
    _write(folder, outcome, setup, made_by)


class _Size(NamedTuple):
    rounds: int
    runs: int
    seed: int


class _Outcome(NamedTuple):
    traces: list[Trace]
    version: str  # which made them
    judgements: list[Judgement]  # on the trends that the paper sees
    apart: list[Judgement]  # a family each

    @property
    def all_judgements(self) -> list[Judgement]:
        return [*self.judgements, *self.apart]


def split_data(text: str) -> list[str]:
    """Return the data sets in a list, all of them if it is empty."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in paper.DATA:
            raise UnknownName("data set of the paper", name, known=paper.DATA)
    return names or list(paper.DATA)


def _beyond_the_usual(setup: paper.Setup, policies: Sequence[str]) -> list[str]:
    """Return those of the policies that are not in the experiment anyway."""
    texts = dict.fromkeys(Policy.parse(text).text for text in policies)
    return [text for text in texts if text not in (*setup.policies(), *paper.BEYOND)]


def _outcome(setup: paper.Setup, evidence: Evidence) -> _Outcome:
    """Return the verdicts on what was played now and before."""
    traces, version, _ = evidence
    judgements = judge(paper.claims(setup, traces), family=paper.n_comparisons())
    apart = (paper.width_claims(setup, traces), paper.poisson_claims(setup, traces))
    return _Outcome(traces, version, judgements, [one for claims in apart for one in judge(claims)])


def _print(outcome: _Outcome, runs: int) -> None:
    print_results(outcome.traces, runs=runs)
    if outcome.all_judgements:
        print_line()
        print_claims(outcome.all_judgements)
        print_line()
        print_test(paper.n_comparisons())
    if outcome.apart:
        print_line(_APART + "; ".join(judgement.claim.number for judgement in outcome.apart) + ".")


def _document(outcome: _Outcome) -> dict[str, object]:
    return {
        "finals": [final_record(trace) for trace in outcome.traces],
        "claims": [record(judgement) for judgement in outcome.all_judgements],
    }


def _said(size: _Size) -> str:
    return f"--rounds {size.rounds} --runs {size.runs} --seed {size.seed}"


def _told(setup: paper.Setup, further: Sequence[str]) -> str:
    also = f" --with {','.join(further)}" if further else ""
    return f"--contexts {setup.scale} --fit {setup.fit}{also}"


def _write(folder: Path, outcome: _Outcome, setup: paper.Setup, made_by: str) -> None:
    from giro.plots import regret_figure  # noqa: PLC0415  # quick start without matplotlib

    tables = {
        "curves": [point for trace in outcome.traces for point in curve_records(trace)],
        "finals": [final_record(trace) for trace in outcome.traces],
        "claims": [record(judgement) for judgement in outcome.all_judgements],
        "comparisons": [
            line for judgement in outcome.all_judgements for line in finding_records(judgement)
        ],
    }
    command.write_tables(folder, tables, made_by, outcome.version)
    for name, traces in _figures(outcome.traces, setup).items():
        closer = name == "reward-closer"
        figure = regret_figure(traces, metric="reward", names=paper.names(setup), closer=closer)
        command.write_figure(folder, figure, made_by, name=name)


def _figures(traces: list[Trace], setup: paper.Setup) -> dict[str, list[Trace]]:
    """Return what is in the paper's figure, and all else, beside linear Giro."""
    shown = setup.policies()
    inside = [trace for trace in traces if trace.setting.policy in shown]
    beyond = [trace for trace in traces if trace.setting.policy not in shown]
    same = [trace for trace in inside if trace.setting.policy == setup.giro("linear")]
    found = {"reward": inside, "reward-closer": inside, "beyond": same + beyond if beyond else []}
    return {name: several for name, several in found.items() if several}
