"""`giro evaluate`: estimate policies from a log, as a table, records and a picture."""

from typing import Annotated, Any

import typer

from giro.cli import options
from giro.cli.main import app
from giro.cli.options import name_list, option
from giro.cli.output import check_picture, print_json, print_line, print_table, write_picture
from giro.errors import BadParameter
from giro.evaluation.estimators import INTERVALS
from giro.evaluation.evaluate import evaluate
from giro.evaluation.readers import read_log
from giro.evaluation.readers._registry import READERS
from giro.evaluation.result import joined
from giro.version import __version__

_WEIGHTED = ("ips", "snips", "dr")


@app.command(name="evaluate")
def evaluate_log(
    log: Annotated[
        str,
        typer.Argument(metavar="LOG", help="A .parquet, .csv, .json(l) or .giro file, a store."),
    ],
    policy: Annotated[list[str], option("TEXT", "As giro:a=1, logged or always:ARM; repeatable.")],
    format: Annotated[
        str, option("|".join(("auto", *READERS)), "How the log is laid out.")
    ] = "auto",
    arm: Annotated[str, option("COLUMN", "Of a table: the chosen arm.")] = "arm",
    reward: Annotated[str, option("COLUMN", "Of a table: its reward.")] = "reward",
    probability: Annotated[str, option("COLUMN", "Of a table: its probability.")] = "probability",
    context: Annotated[
        list[str], option("NAMES", "Of a table: a,b,c, or a prefix of the names; repeatable.")
    ] = ["context"],  # noqa: B006  # read only
    name: Annotated[str | None, option("TEXT", "Of a store: the bandit.")] = None,
    hashed: Annotated[
        bool | None,
        typer.Option(
            "--hashed/--columns", help="Features in VW's JSON (default: hashed above 500)."
        ),
    ] = None,
    estimator: Annotated[
        list[str], option("NAME", "Also replay, rejection-replay; repeatable.")
    ] = list(_WEIGHTED),  # noqa: B006  # read only
    replay: Annotated[
        bool, typer.Option("--replay", help="Also play the policy on the log (uniform logs).")
    ] = False,
    level: Annotated[float, option("P", "Of the confidence intervals.")] = 0.95,
    interval: Annotated[str, option("|".join(INTERVALS), "How to compute them.")] = "normal",
    clip: Annotated[float | None, option("W", "Cut weights to W (default: never).")] = None,
    reward_range: Annotated[str | None, option("LOW,HIGH", "Of rewards, where not [0, 1].")] = None,
    votes: Annotated[int, option("B", "Choices that estimate a probability.")] = 100,
    seed: options.Seed = 0,
    json: options.Json = False,
    plot: options.Plot = None,
) -> None:
    """Estimate from a log the reward per event that other policies would have had.

    A policy goes through the log and learns from every logged reward. The estimate is the mean
    reward of its choices, weighted by how likely they were in the log. With --replay, the policy
    also plays on the log, and learns only from the events on which it agrees with it.

    \b
    Examples:
      giro evaluate events.parquet --policy giro:a=1 --policy logged
      giro evaluate saved.giro --policy always:red
      giro evaluate sqlite:///shop.db --name button --policy ucb1
      giro evaluate clicks.csv --policy always:7 --arm item --probability p --context user_
      giro evaluate vw.dsjson --policy ucb1 --reward-range=-1,0 --plot forest.png
      giro evaluate vw.dsjson --policy giro-ensemble:model=hashed --hashed --reward-range=-1,0
      giro evaluate all.csv --policy thompson --format open-bandit --replay --json
    """
    check_picture(plot)
    several = len(context) > 1 or "," in context[0]
    columns = [name for part in context for name in name_list(part)] if several else context[0]
    events = read_log(
        log,
        format=format,
        arm=arm,
        reward=reward,
        probability=probability,
        context=columns,
        hashed=hashed,
        name=name,
    )
    also_replay = replay and "replay" not in estimator
    asked: list[Any] = [*estimator, "replay"] if also_replay else estimator  # checked below
    evaluation = joined(
        [
            evaluate(
                events,
                text,
                estimators=asked,
                level=level,
                interval=interval,
                clip=clip,
                reward_range=_range(reward_range),
                votes=votes,
                seed=seed,
            )
            for text in policy
        ]
    )
    if json:
        print_json([{**record, "seed": seed} for record in evaluation.records()])
    else:
        print_line(f"log      {log}")
        for key, value in evaluation.heading():
            print_line(f"{key:<9}{value}")
        print_line(f"seed     {seed}   giro {__version__}")
        print_line()
        print_table(evaluation.columns(), evaluation.records())
    if plot is not None:
        from giro.plots import forest_figure  # noqa: PLC0415  # quick start without matplotlib

        write_picture(plot, forest_figure(evaluation))


def _range(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise BadParameter(f"--reward-range is two numbers like 0,50, got '{text}'") from None
    return low, high
