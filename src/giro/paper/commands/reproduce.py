"""`giro reproduce ...`: the figures and statements of the paper, one command for each."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from giro.cli import options
from giro.cli.main import app, help_without_command
from giro.cli.options import option
from giro.cli.output import check_folder, print_json, tell
from giro.cli.simulate import Where, check_kept_runs, finished_traces, interrupted_after
from giro.datasets.dataset import Scale
from giro.errors import UnknownName
from giro.paper.studies import bakeoff as bakeoff_study
from giro.paper.studies import contextual as contextual_study
from giro.paper.studies import family as family_study
from giro.paper.studies import mab as mab_study
from giro.paper.studies import offline as offline_study
from giro.paper.studies import settings as settings_study
from giro.paper.studies import wheel as wheel_study
from giro.paper.studies._bakeoff_sets import FOLDER
from giro.paper.study import Study
from giro.simulation.kept import Kept
from giro.simulation.trace import Trace
from giro.tables import write_csv
from giro.version import __version__, stamp

commands = typer.Typer(rich_markup_mode=None)
app.add_typer(commands, name="reproduce")

_SCALE = "quick: 5,000 rounds, 2 runs; paper: 50,000 rounds, 5 runs (many hours)."
_POLICIES = "Play only these policies, as lin-ucb,giro-ensemble:a=1."
_FIT = "Linear and logistic models fitted exactly, or by stochastic gradient."
_ONE_SCALE = "Play only this scaling of contexts: column, unit or range."
_ONE_FIT = "Play only models fitted like this: exact or sgd."


@commands.callback(invoke_without_command=True)
def describe_studies(context: typer.Context) -> None:
    """Reproduce the paper's figures and statements, and judge its claims.

    Each command plays the runs that are not yet in its folder, writes tables and figures there, and
    says which of the paper's claims hold. A claim that fails is a finding: the exit status stays 0.

    \b
    Examples:
      giro reproduce mab --runs 20 --rounds 1000 --out quick
      giro reproduce contextual --only statlog
    """
    help_without_command(context)


def _with(example: str) -> Any:
    return typer.Option("--with", metavar="POLICIES", help=f"Further policies, as {example}.")


def reproduce(study: Study, out: Path, *, json: bool, where: Where | None = None) -> None:
    """Play the missing runs of a study, print its outcome, and write it to the folder `out`.

    After Ctrl-C, finished runs are kept and printed, but tables and figures are not written.
    """
    from giro import plots  # noqa: PLC0415  # fails before hours of work, not after

    check_folder(out)
    command, kept = study.command, Kept()
    traces: list[Trace] = []
    interrupted = False
    if study.experiments:
        kept = Kept(out)
        check_kept_runs(kept, study.judged)
        traces, interrupted = finished_traces(study.experiments, kept, where or Where())
    finished = traces
    if study.judged:
        evidence = kept.evidence(study.judged, runs=study.runs)
        traces = evidence.traces + (evidence.others if study.by_comparison else [])
        if not evidence.is_present:
            made = (t for t in evidence.traces if t.setting.version == evidence.version)
            n_runs = sum(trace.runs.size for trace in made)
            tell(
                f"judging {n_runs} runs made by giro {evidence.version}: the present code draws "
                "other numbers of the same distribution; --fresh plays its own beside them"
            )
        if evidence.version != __version__:
            command += f" (runs of giro {evidence.version})"
    outcome = study.outcome(traces, not interrupted)
    if json:
        print_json(outcome.document)
    else:
        outcome.show()
    if interrupted:
        raise interrupted_after(study.experiments, finished, kept)
    for name, records in outcome.tables.items():
        write_csv(out / f"{name}.csv", records, note=str(stamp(command)))
    for name, figure in outcome.figures().items():
        plots.save(figure, out / f"{name}.png", note=str(stamp(command)))
        tell(f"wrote {out / name}.png and the tables beside it")


@commands.command()
def mab(
    rounds: options.Rounds = mab_study.ROUNDS,
    runs: options.Runs = mab_study.RUNS,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    also: Annotated[str, _with("besa,phe:a=1.1")] = "",
    out: options.Out = Path("results/mab"),
    json: options.Json = False,
    engine: options.Engine = "threads",
    address: options.Address = None,
) -> None:
    """Compare Giro with UCB1, KL-UCB and Thompson sampling, and judge the paper's claims.

    Kveton et al. (2019), Section 6.1: ten arms, Bernoulli and beta rewards. The paper does not
    say which c its KL-UCB uses. The figure has c = 3, and both c = 3 and c = 0 are judged.

    \b
    Examples:
      giro reproduce mab
      giro reproduce mab --runs 20 --rounds 1000 --out quick
      giro reproduce mab --with besa,phe:a=1.1 --json
    """
    study = mab_study.study(rounds=rounds, runs=runs, seed=seed, also=options.policy_list(also))
    reproduce(study, out, json=json, where=Where(jobs, engine, address))


@commands.command()
def linear_regret(
    rounds: options.Rounds = 5_000,
    runs: options.Runs = 2_000,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    out: options.Out = Path("results/linear-regret"),
    json: options.Json = False,
    engine: options.Engine = "threads",
    address: options.Address = None,
) -> None:
    """Compare the regret of plain bootstrapping with the paper's linear lower bounds.

    Kveton et al. (2019), Section 3.1: two Bernoulli arms, each first pulled k times, and then the
    bootstrap without pseudo rewards. Giro plays the same problems. For the first rounds, regret is
    also computed exactly.

    \b
    Examples:
      giro reproduce linear-regret
      giro reproduce linear-regret --runs 200 --rounds 1000 --out quick
    """
    from giro.paper.studies.linear_regret import study  # noqa: PLC0415  # quick start

    where = Where(jobs, engine, address)
    reproduce(study(rounds=rounds, runs=runs, seed=seed), out, json=json, where=where)


@commands.command()
def contextual(
    scale: Annotated[Literal["quick", "paper"], typer.Option(help=_SCALE)] = "quick",
    only: options.Only = "",
    policies: Annotated[str, option("POLICIES", _POLICIES)] = "",
    also: Annotated[str, _with("giro-ensemble:a=1")] = "",
    contexts: Annotated[
        Scale, typer.Option(help="How contexts are scaled; the paper does not say.")
    ] = "column",
    fit: Annotated[contextual_study.Fit, typer.Option(help=_FIT)] = "exact",
    rounds: Annotated[int | None, option("N", "Rounds, if not those of --scale.")] = None,
    runs: Annotated[int | None, option("R", "Runs, if not those of --scale.")] = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    out: Annotated[Path | None, option("FOLDER", "Default: results/contextual...")] = None,
    json: options.Json = False,
    fresh: options.Fresh = False,
    engine: options.Engine = "threads",
    address: options.Address = None,
) -> None:
    """Compare contextual Giro with LinUCB, LinTS and ε-greedy, and judge the paper's claims.

    Kveton et al. (2019), Section 6.2: Statlog, Covertype and Adult as bandits, reward per round.
    Each run is kept as it ends and is not computed again. Tables, figure and verdicts include all
    kept runs of the paper's policies, of some others and of those named. So the work can be done
    piece by piece with --only and --policies.

    \b
    Examples:
      giro reproduce contextual
      giro reproduce contextual --only statlog --policies lin-ucb,giro-ensemble
      giro reproduce contextual --only statlog --with giro-ensemble:a=1
      giro reproduce contextual --scale paper --only adult --runs 2
    """
    study = contextual_study.study(
        contextual_study.Setup(contexts, fit),
        scale=scale,
        rounds=rounds,
        runs=runs,
        seed=seed,
        data=_data(only),
        policies=options.policy_list(policies),
        also=options.policy_list(also),
    )
    folder = out or Path("results") / ("contextual" if scale == "paper" else "contextual-quick")
    reproduce(study, folder, json=json, where=Where(jobs, engine, address, fresh))


@commands.command()
def bakeoff(
    only: Annotated[str, option("SETS", "Play only these data sets, as waveform,adult.")] = "",
    policies: Annotated[str, option("POLICIES", _POLICIES)] = "",
    sets: Annotated[Path, option("FOLDER", "Where the data sets are.")] = FOLDER,
    field: Annotated[Path, option("FILE", "Rewards of other libraries.")] = Path(
        "results/bakeoff/field.csv"
    ),
    runs: Annotated[int, option("R", "Orders of the rows.")] = bakeoff_study.ORDERS,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    out: options.Out = Path("results/bakeoff"),
    json: options.Json = False,
    fresh: options.Fresh = False,
    engine: options.Engine = "threads",
    address: options.Address = None,
) -> None:
    """Compare the default with giro's other policies and other libraries on many data sets.

    This study is not in the paper. It plays classification data as bandits, some with graded
    rewards, each row at most once. scripts/bakeoff_sets.py makes the data sets, benchmarks/field.py
    plays other libraries. The sets of the judging half and the paper's three are judged. The others
    served to choose the default's parameters. Each run is kept as it ends and is not computed
    again.

    \b
    Examples:
      giro reproduce bakeoff
      giro reproduce bakeoff --only waveform,storms --policies default,rand-ucb
    """
    study = bakeoff_study.study(
        runs=runs,
        seed=seed,
        only=options.name_list(only),
        policies=options.policy_list(policies),
        folder=sets,
        field=field,
    )
    reproduce(study, out, json=json, where=Where(jobs, engine, address, fresh))


@commands.command()
def family(
    only: Annotated[
        str, option("WORDS", "Play only problems with one of these words, as gaussian.")
    ] = "",
    policies: Annotated[str, option("POLICIES", "Play only these policies, as imed,sda.")] = "",
    rounds: options.Rounds = family_study.ROUNDS,
    runs: options.Runs = family_study.RUNS,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    out: options.Out = Path("results/family"),
    json: options.Json = False,
    engine: options.Engine = "threads",
    address: options.Address = None,
) -> None:
    """Compare policies without contexts, and how fast their regret grows with the limit.

    This study is not in the paper. Bernoulli, beta, normal and discrete rewards, 10 and 100 arms.
    With all rounds and runs it takes many hours, most of them for npts on rewards other than 0 and
    1. Each run is kept as it ends and is not computed again.

    \b
    Examples:
      giro reproduce family --rounds 10000 --runs 20 --out quick
      giro reproduce family --only bernoulli --policies imed,sda
    """
    study = family_study.study(
        rounds=rounds,
        runs=runs,
        seed=seed,
        only=options.name_list(only),
        policies=options.policy_list(policies),
    )
    reproduce(study, out, json=json, where=Where(jobs, engine, address))


@commands.command()
def wheel(
    only: Annotated[
        str, option("WORDS", "Play only problems with one of these words, as 0.99.")
    ] = "",
    rounds: options.Rounds = wheel_study.ROUNDS,
    runs: options.Runs = wheel_study.RUNS,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    out: options.Out = Path("results/wheel"),
    json: options.Json = False,
    engine: options.Engine = "threads",
    address: options.Address = None,
) -> None:
    """Compare neural-linear on the wheel, and lin-post on Statlog, with published figures.

    This study is not in the paper. Riquelme et al. (2018) and Wen et al. (2020, Table 3) give the
    regret as a share of that of uniform. Other policies play the wheel beside. Each run is kept as
    it ends and is not computed again.

    \b
    Examples:
      giro reproduce wheel
      giro reproduce wheel --only statlog
    """
    study = wheel_study.study(rounds=rounds, runs=runs, seed=seed, only=options.name_list(only))
    reproduce(study, out, json=json, where=Where(jobs, engine, address))


@commands.command()
def settings(
    only: options.Only = "",
    contexts: Annotated[settings_study.ScaleName | None, option("SCALE", _ONE_SCALE)] = None,
    fit: Annotated[contextual_study.Fit | None, option("FIT", _ONE_FIT)] = None,
    rounds: options.Rounds = settings_study.ROUNDS,
    runs: options.Runs = settings_study.RUNS,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    out: options.Out = Path("results/settings"),
    json: options.Json = False,
    fresh: options.Fresh = False,
    engine: options.Engine = "threads",
    address: options.Address = None,
) -> None:
    """Judge the contextual claims for each scaling of contexts and each way of fitting.

    Kveton et al. (2019), Section 6.2, say neither how contexts were scaled nor what "optimize until
    the error drops below 1e-3" means. The setting of `giro reproduce contextual --scale paper` is
    the one in which ε-greedy, not Giro, earns most. Each run is kept as it ends. The tables include
    all kept runs.

    \b
    Examples:
      giro reproduce settings
      giro reproduce settings --only statlog --contexts unit --fit exact
    """
    study = settings_study.study(
        rounds=rounds, runs=runs, seed=seed, data=_data(only), scale=contexts, fit=fit
    )
    reproduce(study, out, json=json, where=Where(jobs, engine, address, fresh))


@commands.command()
def offline(
    only: options.Only = "",
    contexts: Annotated[Scale, option("SCALE", "How contexts are scaled.")] = "column",
    splits: Annotated[int, option("N", "Random splits into training and test.")] = 5,
    rows: Annotated[int, option("N", "Largest number of rows.")] = offline_study.MOST_ROWS,
    seed: options.Seed = 0,
    out: Annotated[
        Path, option("FOLDER", "For the tables; those of an earlier call are replaced.")
    ] = Path("results/offline"),
    json: options.Json = False,
) -> None:
    """Train each model for each arm on all the data, and count how often the best arm is right.

    Kveton et al. (2019), Section 6.2: on Adult the network performs worst, and even a network
    trained offline was worse than a linear model. It takes some minutes, and nothing is kept before
    the end.

    \b
    Examples:
      giro reproduce offline
      giro reproduce offline --only adult --splits 2
    """
    study = offline_study.study(
        data=_data(only), named=bool(only), scale=contexts, splits=splits, seed=seed, most=rows
    )
    reproduce(study, out, json=json)


def _data(only: str) -> list[str]:
    """Return the data sets in a list, all of them if it is empty."""
    names = options.name_list(only)
    for name in names:
        if name not in contextual_study.DATA:
            raise UnknownName("data set of the paper", name, known=contextual_study.DATA)
    return names or list(contextual_study.DATA)
