"""`giro evaluate`: what a log says about policies, as a table, records and a picture."""

from pathlib import Path
from typing import Annotated, Any

import typer

from giro.cli._app import app
from giro.cli._output import Column, print_json, print_line, print_table, tell
from giro.cli._targets import check_picture
from giro.errors import BadParameter
from giro.evaluation.evaluate import evaluate
from giro.evaluation.intervals import Interval
from giro.evaluation.readers import Format, read_log
from giro.evaluation.result import Evaluation, joined
from giro.version import __version__

_WEIGHTED = ("ips", "snips", "dr")
_WORDS = ("policy", "note")


def _option(metavar: str, text: str) -> Any:
    return typer.Option(metavar=metavar, help=text)


@app.command(name="evaluate")
def evaluate_log(
    log: Annotated[Path, typer.Argument(metavar="LOG", help="A .parquet, .csv or .json(l) file.")],
    policy: Annotated[list[str], _option("TEXT", "As giro:a=1, logged or always:ARM; repeatable.")],
    format: Annotated[Format, typer.Option(help="How the log is laid out.")] = "auto",
    arm: Annotated[str, _option("COLUMN", "Of a table: the chosen arm.")] = "arm",
    reward: Annotated[str, _option("COLUMN", "Of a table: its reward.")] = "reward",
    probability: Annotated[
        str, _option("COLUMN", "Of a table: with which it was chosen.")
    ] = "probability",
    context: Annotated[
        str, _option("NAMES", "Of a table: a,b,c, or what the names begin with.")
    ] = "context",
    estimator: Annotated[
        list[str], _option("NAME", "Also replay, rejection-replay; may be repeated.")
    ] = list(_WEIGHTED),  # noqa: B006  # read only
    replay: Annotated[
        bool, typer.Option("--replay", help="Also play the policy on the log (uniform logs).")
    ] = False,
    level: Annotated[float, _option("P", "Of the confidence intervals.")] = 0.95,
    interval: Annotated[Interval, typer.Option(help="How they are made.")] = "normal",
    clip: Annotated[float | None, _option("W", "Cut weights to this (default: never).")] = None,
    reward_range: Annotated[
        str | None, _option("LOW,HIGH", "Of rewards, where not [0, 1].")
    ] = None,
    votes: Annotated[int, _option("B", "Choices from which probabilities are found.")] = 100,
    seed: Annotated[int, _option("S", "Same seed, same numbers.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print records, not a table.")] = False,
    plot: Annotated[Path | None, _option("FILE", "Picture: .png, .svg or .pdf.")] = None,
) -> None:
    """Estimate from a log the reward per event that other policies would have had.

    A policy is led through the log and learns from every logged reward; shown is the mean reward
    of its choices, weighted by how likely they were in the log. With --replay it instead learns
    from the events on which it agrees with the log.

    \b
    Examples:
      giro evaluate events.parquet --policy giro:a=1 --policy logged
      giro evaluate clicks.csv --policy always:7 --arm item --probability p --context user_
      giro evaluate vw.dsjson --policy ucb1 --reward-range=-1,0 --plot forest.png
      giro evaluate all.csv --policy thompson --format open-bandit --replay --json
    """
    if plot is not None:
        check_picture(plot)
    columns = _listed(context) if "," in context else context
    events = read_log(
        log, format=format, arm=arm, reward=reward, probability=probability, context=columns
    )
    evaluation = joined(
        [
            evaluate(
                events,
                text,
                estimators=_estimators(estimator, replay=replay),
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
        _print(evaluation, log, seed)
    if plot is not None:
        _draw(evaluation, plot)


def _estimators(asked: list[str], *, replay: bool) -> list[Any]:
    """Return the names asked for; whether they are known is the library's to say."""
    return [*asked, "replay"] if replay and "replay" not in asked else asked


def _range(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise BadParameter(f"--reward-range is two numbers like 0,50, got '{text}'") from None
    return low, high


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _print(evaluation: Evaluation, log: Path, seed: int) -> None:
    print_line(f"log      {log}")
    for key, value in evaluation.heading():
        print_line(f"{key:<9}{value}")
    print_line(f"seed     {seed}   giro {__version__}")
    print_line()
    columns = [
        Column(title, words=title in _WORDS, right=title not in (*_WORDS, "estimator"))
        for title in evaluation.titles()
    ]
    print_table(columns, evaluation.cells())


def _draw(evaluation: Evaluation, path: Path) -> None:
    from giro.plots import save  # noqa: PLC0415  # quick start without matplotlib
    from giro.plots.evaluation import forest_figure  # noqa: PLC0415  # quick start

    save(forest_figure(evaluation), path)
    tell(f"wrote {path}")
