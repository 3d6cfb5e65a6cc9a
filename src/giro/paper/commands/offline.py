"""`giro reproduce offline`: models told everything, without any exploration."""

from pathlib import Path
from typing import Annotated

from giro.cli._output import Column, print_json, print_line, print_table, progress
from giro.cli._targets import check_folder
from giro.datasets.scaling import Scale
from giro.paper.claims import judge, record
from giro.paper.commands import _reproduce as command
from giro.paper.commands._verdicts import print_claims
from giro.paper.commands.contextual import split_data
from giro.paper.studies import offline as paper

_OUT = "For the tables; those of an earlier call are replaced."


@command.reproduce.command()
def offline(
    only: Annotated[str, command.option("DATA", "Only these data sets, as statlog,adult.")] = "",
    contexts: Annotated[Scale, command.option("SCALE", "How contexts are scaled.")] = "column",
    splits: Annotated[int, command.option("N", "Random splits into training and test.")] = 5,
    rows: Annotated[int, command.option("N", "At most so many rows.")] = paper.MOST_ROWS,
    seed: command.Seed = 0,
    out: Annotated[Path, command.option("FOLDER", _OUT)] = Path("results/offline"),
    json: command.Json = False,
) -> None:
    """Train each model for each arm on all the data, and see how often the best arm is right.

    Kveton et al. (2019), Section 6.2: on Adult the network performs worst, and even a network
    trained offline was worse than a linear model. Some minutes; nothing is kept before the end.

    \b
    Examples:
      giro reproduce offline
      giro reproduce offline --only adult --splits 2
    """
    check_folder(out)
    data = split_data(only)
    total = len(data) * splits * sum(map(len, paper.PASSES.values()))
    found = []
    with progress(total) as advance:
        for score in paper.scores(data, scale=contexts, splits=splits, seed=seed, most=rows):
            found.append(score)
            advance(f"{score.data} {score.model}", 1)
    table, judgements = list(paper.rows_of(found)), judge(paper.claims(found, scale=contexts))
    if json:
        print_json({"scores": table, "claims": [record(one) for one in judgements]})
    else:
        _print(table)
        if judgements:
            print_line()
            print_claims(judgements)
    made_by = (
        f"giro reproduce offline --contexts {contexts} --splits {splits} --rows {rows} "
        f"--seed {seed}" + (f" --only {','.join(data)}" if only else "")
    )
    tables = {"scores": table, "claims": [record(one) for one in judgements]}
    command.write_tables(out, tables, made_by)


def _print(table: list[dict[str, object]]) -> None:
    columns = [
        Column("data"),
        Column("model"),
        Column("passes", right=True),
        Column("seen rows", right=True),
        Column("unseen rows", right=True),
        Column("se", right=True),
    ]
    lines = [
        [
            str(row["data"]),
            str(row["model"]),
            str(row["passes"]),
            f"{row['seen']:.4f}",
            f"{row['unseen']:.4f}",
            f"{row['unseen_se']:.4f}",
        ]
        for row in table
    ]
    print_table(columns, lines)
