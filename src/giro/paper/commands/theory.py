"""`giro theory ...`: the paper's statements in numbers, one command for each."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from giro.checks import check, whole
from giro.cli import options
from giro.cli.main import app, help_without_command
from giro.cli.options import number, number_list, option, whole_numbers
from giro.cli.output import (
    check_folder,
    check_picture,
    page_width,
    print_json,
    print_line,
    print_table,
    tell,
    write_picture,
)
from giro.files import write_whole
from giro.paper.claims import verdict_record, verdict_table
from giro.tables import UNLIMITED, Column, table_text, write_csv
from giro.version import __version__, stamp

if TYPE_CHECKING:
    from giro.paper.theory.report import Report

theory = typer.Typer(
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.add_typer(theory, name="theory")

_MEANS = (0.7, 0.4)
_SHORT = 12  # rounds of the exact regret
_MORE = 20  # factor of the runs for exact regret: they are short


@theory.callback(invoke_without_command=True)
def describe_theory(context: typer.Context) -> None:
    """Check the paper's statements in numbers.

    Each command prints tables, the statements they decide and whether these hold, and draws a
    figure with --plot. A statement that fails is a finding: the exit status stays 0.

    \b
    Examples:
      giro theory bound --means 0.7,0.4 --rounds 10000 --a 1
      giro theory general-bound --means 0.7,0.4 --plot bounds.png
      giro theory lemmas --json
      giro theory all --out results/theory
    """
    help_without_command(context)


@theory.command()
def bound(
    means: options.Means = "0.7,0.4",
    rounds: options.Rounds = 10_000,
    a: options.A = "1",
    json: options.Json = False,
    plot: options.Plot = None,
) -> None:
    """Show Theorem 2's bound on the regret, term by term.

    It needs a > 1 / sqrt(2). Numbers too large for a float are shown all the same. The figure has
    the bound against a and against the rounds.

    \b
    Examples:
      giro theory bound --means 0.7,0.4 --rounds 10000 --a 1
      giro theory bound --means 0.9,0.8,0.5 --a 3 --plot bound.png
    """
    from giro.paper.theory.bound import bound_report  # noqa: PLC0415  # quick start

    arms, pseudo = number_list(means, "--means"), number(a, "--a")
    _show(lambda: bound_report(arms, rounds, pseudo), json=json, plot=plot)


@theory.command()
def general_bound(
    means: options.Means = "0.7,0.4",
    rounds: options.Rounds = 10_000,
    a: options.A = "1",
    runs: options.Runs = 50,
    seed: options.Seed = 0,
    json: options.Json = False,
    plot: options.Plot = None,
) -> None:
    """Show Theorem 1 in numbers beside simulated regret and Theorem 2.

    Theorem 1's sums are computed instead of bounded, for any a >= 0. 10,000 rounds of two arms take
    seconds. The figure shows how loose each bound is.

    \b
    Examples:
      giro theory general-bound --means 0.7,0.4 --rounds 10000 --a 1
      giro theory general-bound --means 0.6,0.5 --rounds 1000 --a 1/3 --plot bounds.png
    """
    from giro.paper.theory import general_bound as report  # noqa: PLC0415  # quick start

    question = report.Question(number_list(means, "--means"), rounds, number(a, "--a"), runs, seed)
    _show(lambda: report.general_bound_report(question), json=json, plot=plot)


@theory.command()
def optimism(
    a: Annotated[str, option("A,A", "Pseudo rewards.")] = "1/3,1,2,3",
    n: Annotated[str, option("N,N", "Pulls.")] = "1,2,3,6,12,30,60,120",
    p: Annotated[str | None, option("P,P", "Means (default: all).")] = None,
    json: options.Json = False,
    plot: options.Plot = None,
) -> None:
    """Show W(n, p, a) exactly against Theorem 4's bound c.

    W is the expected inverse probability of being optimistic. Without --p it is the exact maximum
    over all p. Pairs whose product a n is not an integer are left out. For a <= 1 / sqrt(2) there
    is no c.

    \b
    Examples:
      giro theory optimism
      giro theory optimism --a 1 --n 1,10,100 --p 0.1,0.5,0.9 --plot optimism.png
    """
    from giro.paper.theory.optimism import optimism_report  # noqa: PLC0415  # quick start

    values, pulls = number_list(a, "--a"), whole_numbers(n, "--n")
    places = None if p is None else number_list(p, "--p")
    _show(lambda: optimism_report(values, pulls, places), json=json, plot=plot)


@theory.command()
def moments(
    s: Annotated[int, option("S", "Pulls.")] = 12,
    mean: Annotated[str, option("M", "Mean of the arm.")] = "0.7",
    a: options.A = "1",
    most_pulls: Annotated[int, option("S", "Largest s for Equation 7.")] = 40,
    json: options.Json = False,
    plot: options.Plot = None,
) -> None:
    """Show the moments of Section 4.2, and where its Equation 7 fails.

    The formulas are compared with sums over all outcomes. a s must be an integer. The figure has
    the condition on variances and a map of the failures.

    \b
    Examples:
      giro theory moments
      giro theory moments --s 30 --mean 0.2 --a 1/3 --plot moments.png
    """
    from giro.paper.theory.moments import moments_report  # noqa: PLC0415  # quick start

    chance, pseudo = number(mean, "--mean"), number(a, "--a")
    _show(lambda: moments_report(s, chance, pseudo, most_pulls=most_pulls), json=json, plot=plot)


@theory.command()
def lemmas(
    n: options.Trials = 40,
    json: options.Json = False,
    plot: options.Plot = None,
) -> None:
    """Check the lemmas of the appendix, and the steps of the proofs, over grids.

    The tables have the cases checked, the violations and where they are, and the smallest margin.
    The figure has the margins.

    \b
    Examples:
      giro theory lemmas
      giro theory lemmas --n 100 --plot margins.pdf
    """
    from giro.paper.theory.proofs import lemmas_report  # noqa: PLC0415  # quick start

    _show(lambda: lemmas_report(n), json=json, plot=plot)


@theory.command()
def exact(
    means: options.Means = "0.7,0.4",
    rounds: options.Rounds = 12,
    policy: Annotated[str, option("TEXT", "giro or bootstrap.")] = "giro:a=1",
    ties: Annotated[
        Literal["random", "fixed"] | None, typer.Option(help="Instead of the policy's.")
    ] = None,
    runs: options.Runs = 0,
    seed: options.Seed = 0,
    json: options.Json = False,
    plot: options.Plot = None,
) -> None:
    """Show the exact expected regret of a small Bernoulli problem.

    All histories are enumerated: 12 rounds of two arms take a tenth of a second, 20 about one.
    With --runs, simulated regret is shown too, with its standard error.

    \b
    Examples:
      giro theory exact --means 0.7,0.4 --rounds 12 --policy giro:a=1
      giro theory exact --policy bootstrap:pulls=2 --runs 1000 --seed 1 --plot exact.svg
      giro theory exact --policy giro:a=1/3 --ties fixed --json
    """
    from giro.paper.theory.exact import Question, exact_report  # noqa: PLC0415  # quick start

    check("a check by simulation", whole(0), runs=runs)
    question = Question(policy, ties, number_list(means, "--means"), rounds, runs, seed)
    _show(lambda: exact_report(question), json=json, plot=plot)


@theory.command(name="all")
def everything(
    out: Annotated[Path, option("FOLDER", "For all files.")],
    rounds: options.Rounds = 10_000,
    n: options.Trials = 40,
    runs: options.Runs = 100,
    seed: options.Seed = 1,
    json: options.Json = False,
) -> None:
    """Write every table and figure, and print every statement with its verdict.

    tables.txt has the output of each command, statements.csv all statements, and each command gets
    a .png. Every file names the command that repeats it. Exact regret gets 20 times the runs.

    \b
    Examples:
      giro theory all --out results/theory
    """
    from giro.plots import save  # noqa: PLC0415  # quick start without matplotlib

    check_folder(out)
    statements, texts = [], []
    reports = _reports(rounds, n, runs, seed)
    for name, make in reports.items():
        report = make()
        made_by = str(stamp(report.command))
        texts += [made_by, *_paragraphs(report, width=UNLIMITED)]
        save(report.draw(), out / f"{name}.png", note=made_by)
        statements += [
            {"command": name, **verdict_record(verdict)} for verdict in report.statements
        ]
    write_whole(out / "tables.txt", ["\n\n".join([*texts, ""]).encode()])
    command = f"giro theory all --out {out} --rounds {rounds} --n {n} --runs {runs} --seed {seed}"
    write_csv(out / "statements.csv", statements, note=str(stamp(command)))
    if json:
        print_json(statements)
    else:
        columns = [Column(key, words=key in ("claim", "figures")) for key in statements[0]]
        print_table(columns, statements)
    tell(f"wrote {len(reports) + 2} files to {out}")


def _reports(rounds: int, n: int, runs: int, seed: int) -> "dict[str, Callable[[], Report]]":
    from giro.paper.theory import (  # noqa: PLC0415  # quick start
        bound,
        exact,
        general_bound,
        moments,
        optimism,
        proofs,
    )

    pulls = [k for k in (1, 2, 3, 6, 12, 30, 60, 120) if k <= 3 * n]
    general = general_bound.Question(_MEANS, rounds, 1.0, runs, seed)
    small = exact.Question("giro:a=1", None, _MEANS, _SHORT, _MORE * runs, seed)
    return {
        "bound": lambda: bound.bound_report(_MEANS, rounds, 1.0),
        "general-bound": lambda: general_bound.general_bound_report(general),
        "optimism": lambda: optimism.optimism_report([1 / 3, 1.0, 2.0, 3.0], pulls, None),
        "moments": lambda: moments.moments_report(12, 0.7, 1.0, most_pulls=n),
        "lemmas": lambda: proofs.lemmas_report(n),
        "exact-giro": lambda: exact.exact_report(small),
        "exact-bootstrap": lambda: exact.exact_report(small._replace(policy="bootstrap:pulls=1")),
    }


def _show(make: "Callable[[], Report]", *, json: bool, plot: Path | None) -> None:
    """Make a report, print it, and draw its figure if wanted."""
    check_picture(plot)
    report = make()
    if json:
        tables = {table.name.replace("-", "_"): list(table.records) for table in report.tables}
        statements = [verdict_record(verdict) for verdict in report.statements]
        about: dict[str, Any] = {"command": report.command, "version": __version__}
        print_json({**about, **tables, "statements": statements})
    else:
        heading = f"{report.command}   (giro {__version__})"
        print_line("\n\n".join([heading, *_paragraphs(report, width=page_width())]))
    if plot is not None:
        write_picture(plot, report.draw(), note=str(stamp(report.command)))


def _paragraphs(report: "Report", *, width: int) -> Sequence[str]:
    """Return the tables of a report that have columns, and its statements, as text."""
    parts = [
        f"{title}\n{table_text(columns, records, width=width) if records else 'none'}"
        for _, title, columns, records in report.tables
        if columns
    ]
    if report.statements:
        parts.append(table_text(*verdict_table(report.statements), width=width))
    return parts
