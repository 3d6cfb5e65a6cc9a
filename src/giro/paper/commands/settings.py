"""`giro reproduce settings`: how the contextual claims depend on what the paper leaves open."""

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from giro.cli._engine import Address, Engine
from giro.cli._output import Column, print_json, print_line, print_table
from giro.cli._playing import (
    INTERRUPTED,
    Place,
    check,
    finished_traces,
    say_what_is_judged,
    say_what_is_there,
)
from giro.cli._results import number
from giro.cli._targets import check_folder
from giro.paper.commands import _reproduce as command
from giro.paper.commands._verdicts import said
from giro.paper.commands.contextual import split_data
from giro.paper.studies import settings as paper
from giro.paper.studies.contextual import Fit
from giro.simulation.kept import Kept
from giro.simulation.metrics import Estimate
from giro.simulation.tables import final_record

_CONTEXTS = "Play only this scaling of contexts: column, unit or range."
_FIT = "Play only models fitted like this: exact or sgd."


@command.reproduce.command()
def settings(
    only: Annotated[str, command.option("DATA", "Only these data sets, as statlog,adult.")] = "",
    contexts: Annotated[paper.ScaleName | None, command.option("SCALE", _CONTEXTS)] = None,
    fit: Annotated[Fit | None, command.option("FIT", _FIT)] = None,
    rounds: command.Rounds = paper.ROUNDS,
    runs: command.Runs = paper.RUNS,
    seed: command.Seed = 0,
    jobs: command.Jobs = None,
    out: command.Out = Path("results/settings"),
    json: command.Json = False,
    fresh: command.Fresh = False,
    engine: Engine = "threads",
    address: Address = None,
) -> None:
    """Judge the contextual claims for each scaling of contexts and each way of fitting.

    Kveton et al. (2019), Section 6.2, say neither how contexts were scaled nor what "optimize until
    the error drops below 1e-3" means. The setting of `giro reproduce contextual --scale paper` is
    the one in which ε-greedy, not Giro, earns most. Each run is kept as it ends; the tables are
    about all that is there.

    \b
    Examples:
      giro reproduce settings
      giro reproduce settings --only statlog --contexts unit --fit exact
    """
    check_folder(out)
    experiments = partial(paper.experiments, rounds=rounds, seed=seed)
    setups = [s for s in paper.SETUPS if contexts in (None, s.scale) and fit in (None, s.fit)]
    most = max(runs, paper.RUNS)  # others may have been played before
    whole = [cell for part in experiments(runs=most) for cell in part.cells()]
    kept = Kept(out)
    check(kept, whole)
    place = Place(kept, jobs, engine, address, fresh)
    for part in experiments(runs=runs, data=split_data(only), setups=setups):
        traces, interrupted = finished_traces(part, place)
        if interrupted:
            say_what_is_there(part, traces, kept)
            raise typer.Exit(INTERRUPTED)
    evidence = kept.evidence(whole, runs=most)
    say_what_is_judged(evidence)
    table = paper.verdicts(evidence.traces)
    tables = {
        "claims": list(paper.rows(table)),
        "comparisons": list(paper.comparisons(table)),
        "finals": [final_record(trace) for trace in evidence.traces],
    }
    if json:
        print_json(tables)
    else:
        _print(table)
    made_by = f"giro reproduce settings --rounds {rounds} --runs {most} --seed {seed}"
    command.write_tables(out, tables, made_by, evidence.version)


def _with_error(earned: Estimate) -> str:
    return number(earned.mean, 4) + ("" if math.isnan(earned.se) else f" ± {earned.se:.4f}")


def _print(table: Sequence[paper.Verdicts]) -> None:
    """Print a row a claim and a column a setting."""
    claims = list(dict.fromkeys(j.claim.number for row in table for j in row.judgements))
    texts = {j.claim.number: j.claim.text for row in table for j in row.judgements}
    columns = [Column(""), Column("claim", words=True)]
    columns += [Column(f"{row.setup.scale}, {row.setup.fit}") for row in table]
    verdict = {
        (judgement.claim.number, row.setup): f"{said(judgement)}, {judgement.in_favour} for it"
        for row in table
        for judgement in row.judgements
    }
    lines = [
        [claim, texts[claim], *(verdict.get((claim, row.setup), "") for row in table)]
        for claim in claims
    ]
    earned = ["", "reward of ε-greedy", *(_with_error(row.earned) for row in table)]
    print_table(columns, [*lines, earned])
    print_line()
    picked = paper.chosen(table)
    print_line(f"Rule: {paper.RULE}.")
    print_line(f"Chosen: {picked.scale}, {picked.fit}." if picked else "Not all of it was played.")
