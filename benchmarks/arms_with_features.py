"""Mean reward where arms have features: giro's policies and Vowpal Wabbit on the same rounds.

    python benchmarks/arms_with_features.py [STAGE ...] [--only LIBRARY] [--policies TEXT ...]

Problems are `movielens` and `covertype`, whose seven arms are known by their numbers only, with
50,000 rounds a run, and two in which it costs much not to explore, with 20,000: `hits`, articles
that live for 500 rounds and of which some few are clicked on by far more often than all others, and
`outlier`, see `giro.problems.outlier`. What is revealed does not depend on who plays: results are
compared run by run. The rates of VW are chosen on the two runs of seed 100, by exploration and
interactions; seed 200, five runs, judges each with its rate. In the two problems for exploring, VW
has the products of the round with the arm only, as nothing can be learned without them, and two
rates. There the tuning stage also chooses among several widths of exploring, for VW and for each
policy and model of giro. Policies of giro are played as they are given. Those with a
hashed model meet each film and article with a column of its own, as VW does; others meet genres and
decades, or topics, only, as their models are dense.

A line for each run is added to results/arms/quality.csv as it ends, and what is there is not played
again, unless the version of VW or giro has changed; the newest line counts.
The tables show the mean reward over runs, its standard error, and µs of processor time a round.
"""

import argparse
import csv
import math
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from python_libraries import Trouble
from ratio import cost_of, say
from rounds_for_vw import VW, find_movielens, played_by_vw, write_rounds

from giro import GiroError, Policy, Problem, simulate
from giro.simulation.play import play_run
from giro.version import __version__, stamp

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "arms" / "quality.csv"
ROUNDS = 50_000

HITS = "news:n_arms=2000,on_offer=10,lifetime=500,drift=0,spread=1.5,constant=-4"


class Game(NamedTuple):
    """A problem, and how it is played."""

    problem: str
    dense: str  # for policies whose models are
    explores: bool = False  # whether it is one in which it costs much not to explore
    rounds: int = ROUNDS


GAMES = {
    "movielens": Game("movielens", "movielens:ids=false"),
    "covertype": Game("classification:data=covertype", "classification:data=covertype"),
    "hits": Game(f"{HITS},ids=true", HITS, explores=True, rounds=20_000),
    "outlier": Game("outlier", "outlier", explores=True, rounds=20_000),
}

Stage: TypeAlias = Literal["tuning", "judging"]
SEED: dict[Stage, int] = {"tuning": 100, "judging": 200}
RUNS: dict[Stage, int] = {"tuning": 2, "judging": 5}

EXPLORATIONS = (
    "--bag 5",
    "--bag 20",
    "--squarecb",
    "--regcb",
    "--regcbopt",
    "--epsilon 0.05",
    "--first 1000",
)
INTERACTIONS = ("", "-q UF", "-q ::")  # none; of the round with the arm; all
RATES = ("-l 0.5", "-l 2", "-l 0.1")  # the first is VW's default
IN_EXPLORING = (
    "--bag 5",
    "--cover 5",
    "--squarecb --gamma_scale 10",  # VW's default
    "--squarecb --gamma_scale 100",
    "--regcb --mellowness 0.1",
    "--regcbopt --mellowness 0.1",
    "--epsilon 0",
    "--epsilon 0.05",
    "--first 500",
)

POLICIES = (
    "uniform",
    "lin-ucb",
    "lin-ucb:scale=0.1",
    "lin-ts",
    "lin-ts:scale=0.1",
    "lin-phe",
    "lin-phe:a=0.1",
    "giro-ensemble:model=linear",
    "giro-ensemble:model=hashed,replicas=20",
    "poisson-bootstrap:model=hashed",
    "poisson-bootstrap:model=hashed,spread=0.3",
    "squarecb",
    "squarecb:gamma=100",
    "epsilon-greedy:epsilon=0.02,model=hashed",
    "greedy:model=hashed",
)  # contextual-giro, log-phe and the logistic bounds go through all of the past in every round
EXPLORERS = (
    "uniform",
    "default",
    *(f"greedy:model=[hashed:offset={offset}]" for offset in (0, 1)),
    *(f"epsilon-greedy:epsilon={share},model=hashed" for share in (0.02, 0.05, 0.1)),
    *(f"{name}:gamma={g},model=hashed" for name in ("squarecb", "fastcb") for g in (1, 10, 100)),
    *(f"fastcb:gamma={gamma}" for gamma in (1, 10, 100)),
    *(f"poisson-bootstrap:model=hashed,replicas=20,spread={s}" for s in (0.1, 0.3, 1)),
    *(f"giro-ensemble:model=hashed,replicas=20,spread={s}" for s in (0.1, 0.3, 1)),
    "giro-ensemble:model=hashed,replicas=20,a=1,spread=0.1",
    *(f"lin-ucb:scale={scale}" for scale in (0.1, 0.3, 1)),
    *(f"lin-ts:scale={scale}" for scale in (0.1, 0.3, 1)),
    *(f"rand-ucb:scale={scale}" for scale in (0.3, 1)),
    "neural-linear",
)


class Line(NamedTuple):
    """One run of one policy."""

    problem: str
    library: str
    policy: str
    seed: int
    run: int
    rounds: int
    mean_reward: float
    us: float
    made_with: str

    @property
    def key(self) -> tuple[str | int, ...]:
        """What tells it from other lines."""
        return (*self[:6], self.made_with)


def main() -> None:
    """Play what is missing and print the table."""
    options = _options()
    if "movielens" in options.problems:
        find_movielens()
    for stage in options.stages or RUNS:
        for name in options.problems:
            for run in range(RUNS[stage]):
                if options.only != "giro":
                    _play_vw(name, stage, run, options)
                if options.only != "vw":
                    _play_giro(name, stage, run, options)
    _show(_read(options.out), options)


def _play_vw(name: str, stage: Stage, run: int, options: argparse.Namespace) -> None:
    """Let VW play the run with all arguments of the stage that it has not played."""
    lines, game = _read(options.out), GAMES[name]
    rounds = options.rounds or game.rounds
    there = {line.key for line in lines}
    groups = _tuned(lines, name, rounds)
    if stage == "judging":
        texts = [rates[0] for rates in groups[: options.best]]
    elif run > 0:
        texts = [text for rates in groups[: options.best] for text in rates]
    else:
        texts = _every_rate(game)
    empty = Line(name, "VW", "", SEED[stage], run, rounds, 0.0, 0.0, VW.requirements[0])
    missing = [text for text in texts if empty._replace(policy=text).key not in there]
    if not missing:
        return
    with tempfile.TemporaryDirectory() as folder:
        problem = Problem.parse(game.problem)
        write_rounds(Path(folder), problem, rounds=rounds, seed=SEED[stage], run=run)
        try:
            for outcome in played_by_vw(Path(folder), missing, seed=run):
                us = 1e6 * outcome.seconds / rounds
                _append(
                    options.out,
                    empty._replace(
                        policy=outcome.arguments, mean_reward=outcome.mean_reward, us=us
                    ),
                )
        except Trouble as trouble:
            say(f"  left out: {trouble}")


def _every_rate(game: Game) -> list[str]:
    """Return VW's arguments: every exploration with every interaction and rate."""
    return [
        " ".join(filter(None, (exploration, interactions, rate)))
        for interactions in (("-q UF",) if game.explores else INTERACTIONS)
        for rate in (RATES[:2] if game.explores else RATES)
        for exploration in (IN_EXPLORING if game.explores else EXPLORATIONS)
    ]


def _tuned(lines: Iterable[Line], name: str, rounds: int) -> list[list[str]]:
    """Return arguments by their mean reward in the tuning runs, best first, and groups likewise.

    Those of a group differ in their rates.
    """
    rewards: dict[str, list[float]] = {}
    for line in lines:
        tuning = (line.problem, line.seed, line.rounds) == (name, SEED["tuning"], rounds)
        if tuning and line.library == "VW":
            rewards.setdefault(line.policy, []).append(line.mean_reward)
    groups: dict[str, list[str]] = {}
    for text in sorted(rewards, key=lambda text: -float(np.mean(rewards[text]))):
        groups.setdefault(text.rpartition(" -l ")[0], []).append(text)
    return list(groups.values())


def _play_giro(name: str, stage: Stage, run: int, options: argparse.Namespace) -> None:
    """Play the run with the policies that have not played it."""
    there = {line.key for line in _read(options.out)}
    made_with = f"giro-bandits=={__version__}"
    game = GAMES[name]
    rounds = options.rounds or game.rounds
    for text in options.policies or (EXPLORERS if game.explores else POLICIES):
        try:
            policy = Policy.parse(text)
            problem = Problem.parse(game.problem if "hashed" in policy.text else game.dense)
            line = Line(name, "giro", policy.text, SEED[stage], run, rounds, 0.0, 0.0, made_with)
            if line.key not in there:
                _append(options.out, _played(line, policy, problem))
        except GiroError as error:
            say(f"  left out: {text} on {name}: {error}")


def _played(line: Line, policy: Policy, problem: Problem) -> Line:
    simulate(policy, problem, rounds=1, runs=1)  # compiles
    rewards: list[float] = []

    def play() -> None:
        record = play_run(policy, problem, np.array([line.rounds]), seed=line.seed, run=line.run)
        rewards.append(float(record.reward[-1]))

    us = 1e6 * cost_of(play).cpu / line.rounds
    return line._replace(mean_reward=rewards[0] / line.rounds, us=us)


def _read(path: Path) -> list[Line]:
    if not path.exists():
        return []
    kinds = (str, str, str, int, int, int, float, float, str)
    with path.open(newline="") as file:
        next(file)  # the stamp
        rows = list(csv.reader(file))[1:]
    return [Line(*(kind(cell) for kind, cell in zip(kinds, row, strict=True))) for row in rows]


def _append(path: Path, line: Line) -> None:
    """Add a line; one call writes it, so that two commands may add to the same file."""
    say(f"{line.problem:<10} seed {line.seed} run {line.run} {line.mean_reward:.4f}  {line.policy}")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        of_all = {game.rounds for game in GAMES.values()}
        command = "python benchmarks/arms_with_features.py"
        command += "" if line.rounds in of_all else f" --rounds {line.rounds}"
        path.write_text(f"# {stamp(command)}\n{','.join(Line._fields)}\n")
    numbers = f"{line.rounds},{line.mean_reward:.6f},{line.us:.4g}"
    text = ",".join((line.problem, line.library, f'"{line.policy}"', f"{line.seed},{line.run}"))
    with path.open("a") as file:
        file.write(f"{text},{numbers},{line.made_with}\n")


class Row(NamedTuple):
    """One policy over its runs."""

    library: str
    policy: str
    rewards: np.ndarray  # [run]
    us: float

    @property
    def mean(self) -> float:
        """The mean reward."""
        return float(self.rewards.mean())

    @property
    def error(self) -> float:
        """Its standard error over runs."""
        return standard_error(self.rewards)


def standard_error(values: np.ndarray) -> float:
    """Return the standard error of a mean, NaN of a single value.

    >>> standard_error(np.array([1.0, 3.0]))
    1.0
    """
    return float(values.std(ddof=1) / math.sqrt(values.size)) if values.size > 1 else math.nan


def rows_of(lines: Sequence[Line], name: str, stage: Stage, rounds: int) -> list[Row]:
    """Return the policies that have played all runs of the stage, best first."""
    wanted = [
        line
        for line in lines
        if (line.problem, line.seed, line.rounds) == (name, SEED[stage], rounds)
    ]
    rows = []
    for library, policy in sorted({(line.library, line.policy) for line in wanted}):
        runs = {
            line.run: line for line in wanted if (line.library, line.policy) == (library, policy)
        }
        if len(runs) == RUNS[stage]:
            rewards = np.array([runs[run].mean_reward for run in sorted(runs)])
            us = float(np.median([line.us for line in runs.values()]))
            rows.append(Row(library, policy, rewards, us))
    return sorted(rows, key=lambda row: -row.mean)


def _show(lines: Sequence[Line], options: argparse.Namespace) -> None:
    """Print a table for each stage and problem."""
    for stage in options.stages or RUNS:
        for name in options.problems:
            rounds = options.rounds or GAMES[name].rounds
            rows = rows_of(lines, name, stage, rounds)
            runs = f"{RUNS[stage]} runs of {rounds:,} rounds, seed {SEED[stage]}"
            print(f"\n{stage}: {name}, {runs}")
            for row in rows:
                who = f"{row.library:<5} {row.policy}"
                print(f"  {row.mean:.4f} ± {row.error:.4f} {row.us:7.1f} µs  {who}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stages", nargs="*", choices=[*RUNS, []], metavar="STAGE")
    parser.add_argument("--problems", nargs="+", choices=list(GAMES), default=list(GAMES))
    parser.add_argument("--only", choices=("giro", "vw"))
    parser.add_argument("--policies", nargs="+", metavar="TEXT")
    parser.add_argument("--best", type=int, metavar="N", help="of VW, after a tuning run, play on")
    parser.add_argument("--rounds", type=int, help="of every problem, for a trial")
    parser.add_argument("--out", type=Path, metavar="FILE")
    options = parser.parse_args()
    trial = ROOT / ".benchmarks" / "arms" / f"{options.rounds}.csv"
    options.out = options.out or (trial if options.rounds else RESULTS)
    return options


if __name__ == "__main__":
    main()
