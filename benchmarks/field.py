"""Other libraries on the data sets of the bake-off and of the paper: mean reward and seconds.

    python benchmarks/field.py [--sets NAME ...] [--only LIBRARY ...] [--rounds N] [--out FILE]

Writes results/bakeoff/field.csv, a line for each policy, data set and order as it ends; a line that
is there is not computed again, unless its library has changed. The sets of the bake-off are those
that scripts/bakeoff_sets.py has made, in three orders of their rows, each row at most once; the
paper's are played for 50,000 rounds in five orders. The order of the rows is that of giro's run of
the same number with seed 0, and every policy meets the same rows with columns standardised. Each
plays on one core. Seconds are processor time of choosing and learning, without compiling or
importing; VW's are those of its whole simulation, which reads a binary cache of the rows. A policy
of a library in Python that needs more than the limit stops there, and plays one order only: the
line says how many rounds it saw. With --rounds, no more are played of any set, and lines go to
.benchmarks/field, so that a trial does not replace what the documents show.

All have their defaults, but that contextualbandits' bootstraps learn in batches of 50 rounds, as
their calls are made for. Giro's own policies are here on the paper's sets only: giro-ensemble with
its defaults, and LinUCB and LinTS with the widths of MABWiser's, to be compared with those. On the
others `giro reproduce bakeoff` plays them.
"""

import argparse
import csv
import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from python_libraries import CONTEXTUALBANDITS, MABWISER, Library, Trouble, environment, printed
from ratio import cost_of, say

from giro import BadFile, Policy, Problem, simulate
from giro.paper.studies._bakeoff_sets import (
    GRADED,
    PAPER,
    PLAIN,
    BakeoffSet,
    paper_sets,
    sets_there,
)
from giro.problem import reveal
from giro.problem import start as start_problem
from giro.seeds import stream
from giro.simulation.play import play_run
from giro.tables import write_csv
from giro.version import __version__, stamp

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "bakeoff" / "field.csv"
NAMES = (*PLAIN, *GRADED, *PAPER)
FIELDS = ("library", "policy", "data", "order", "rounds", "mean_reward", "seconds", "made_with")
ORDERS, PAPER_ORDERS = 3, 5
LIMIT, PAPER_LIMIT = 60.0, 600.0  # seconds for a policy and order
SEED = 0
OURS = Policy.parse("giro-ensemble").text  # with its defaults
PATIENCE = 20.0  # times the limit of processor time, in wall time: the machine may be busy
VW = Library("VW", ("vowpalwabbit==9.11.2", "numpy==2.4.6"))
_PROBLEM_SIDE = 0  # of the streams of a run, see giro.simulation.play


class Outcome(NamedTuple):
    """What a policy made of the rows."""

    rounds: int
    mean_reward: float
    seconds: float  # of processor time, choosing and learning only


def played(
    library: Library, policy: str, folder: Path, *, n_arms: int, seed: int, limit: float
) -> Outcome:
    """Return the outcome that the library's script prints; it ends itself after `limit` seconds."""
    arguments = map(str, (policy, folder.resolve(), n_arms, seed, limit))
    command = [environment(library), "-W", "ignore", library.script("classify"), *arguments]
    answer = printed(command, library, timeout=PATIENCE * limit)
    return Outcome(**json.loads(answer.splitlines()[-1]))


Playing = Callable[..., Outcome]


class Entrant(NamedTuple):
    """A policy of the field."""

    library: str
    policy: str  # as its users know it
    play: Playing
    made_with: str  # version of a library


class Cell(NamedTuple):
    """One line to be computed."""

    entrant: Entrant
    data: BakeoffSet
    order: int

    @property
    def key(self) -> tuple[str, ...]:
        """What tells it from other lines."""
        return (self.entrant.library, self.entrant.policy, self.data.name, str(self.order))

    @property
    def limit(self) -> float:
        """Seconds it may take."""
        return PAPER_LIMIT if self.data.half == "paper" else LIMIT


def _ours(policy: str, cell: Cell) -> Outcome:
    """Return how one of giro's own policies does."""
    problem, rounds = Problem.parse(cell.data.problem), cell.data.rounds
    simulate(policy, problem, rounds=1, runs=1)  # compiles
    kept: list[float] = []

    def play() -> None:
        record = play_run(
            Policy.parse(policy), problem, np.array([rounds]), seed=SEED, run=cell.order
        )
        kept.append(float(record.reward[-1]))

    seconds = cost_of(play).cpu
    return Outcome(rounds, kept[0] / rounds, seconds)


def _our(policy: str) -> Entrant:
    """Return a policy of giro's."""
    return Entrant("giro", policy, partial(_ours, policy), f"giro-bandits=={__version__}")


def _peer(library: Library, policy: str, name: str) -> Entrant:
    """Return a policy of another library, and what its script calls it."""
    return Entrant(library.name, policy, partial(played, library, name), library.requirements[0])


ENTRANTS = (
    _our(OURS),
    _peer(VW, "--cbify K --cb_explore_adf --squarecb", "squarecb"),
    _peer(VW, "--cbify K --cb_explore_adf --regcbopt", "regcbopt"),
    _peer(VW, "--cbify K --bag 5", "bag"),
    _peer(VW, "--cbify K --cover 5", "cover"),
    _peer(VW, "--cbify K --epsilon 0.05", "epsilon"),
    _peer(VW, "--cbify K --epsilon 0", "greedy"),
    _peer(VW, "--cbify K --first 500", "first"),
    _peer(CONTEXTUALBANDITS, "LinUCB", "lin-ucb"),
    _peer(CONTEXTUALBANDITS, "BootstrappedTS, LinearRegression, batches of 50", "linear"),
    _peer(CONTEXTUALBANDITS, "BootstrappedTS, SGDClassifier, batches of 50", "logistic"),
    _peer(MABWISER, "LinUCB", "lin-ucb"),
    _peer(MABWISER, "LinTS", "lin-ts"),
    _our("lin-ucb:scale=1"),
    _our("lin-ts:scale=1"),
)


def main() -> None:
    """Compute what is missing."""
    options = _options()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    sets = _sets(options)
    for order in range(PAPER_ORDERS):
        for data in sets:
            if order < _orders(data):
                _play_all(data, order, options)


def _sets(options: argparse.Namespace) -> list[BakeoffSet]:
    """Return the sets to be played, the paper's last, for they take longest."""
    try:
        made = sets_there(ROOT / ".bakeoff")
    except BadFile as trouble:
        say(str(trouble))
        made = []
    sets = [one for one in (*made, *paper_sets()) if one.name in (options.sets or NAMES)]
    most = options.rounds or max(one.rounds for one in sets)
    return [one._replace(rounds=min(one.rounds, most)) for one in sets]


def _orders(data: BakeoffSet) -> int:
    return PAPER_ORDERS if data.half == "paper" else ORDERS


def _play_all(data: BakeoffSet, order: int, options: argparse.Namespace) -> None:
    """Let every entrant that has not done so play this data set in this order."""
    cells = [
        Cell(entrant, data, order)
        for entrant in ENTRANTS
        if entrant.library in (options.only or entrant.library)
        and (entrant.library != "giro" or data.half == "paper")
    ]
    lines = _read(options.out)
    missing = [cell for cell in cells if not _is_settled(cell, lines)]
    if not missing:
        return
    problem = Problem.parse(data.problem)
    with tempfile.TemporaryDirectory() as name:
        rows = rows_in_order(problem, rounds=data.rounds, seed=SEED, run=order)
        write_rows(Path(name), *rows)
        for cell in missing:
            say(" ".join(cell.key))
            try:
                _append(options.out, cell, _outcome(cell, Path(name), problem.n_arms))
            except Trouble as trouble:
                say(f"  left out: {trouble}")


def rows_in_order(problem: Problem, *, rounds: int, seed: int, run: int) -> tuple[np.ndarray, ...]:
    """Return contexts [round, feature] and rewards [round, arm] of one run, whatever the policy."""
    rng = stream(seed, run, _PROBLEM_SIDE)
    instance = start_problem(problem, rng)
    contexts, rewards = np.empty((rounds, problem.n_features)), np.empty((rounds, problem.n_arms))
    for t in range(rounds):
        offer, means, _ = reveal(instance, t, rng)
        contexts[t], rewards[t] = offer.context, means
    return contexts, rewards


def write_rows(folder: Path, contexts: np.ndarray, rewards: np.ndarray) -> None:
    """Write them where a peer's script reads them."""
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "contexts.npy", contexts)
    np.save(folder / "rewards.npy", rewards)


def _outcome(cell: Cell, folder: Path, n_arms: int) -> Outcome:
    if cell.entrant.library == "giro":
        return cell.entrant.play(cell)
    return cell.entrant.play(folder, n_arms=n_arms, seed=cell.order, limit=cell.limit)


def _is_settled(cell: Cell, lines: list[dict[str, str]]) -> bool:
    """Tell whether the line is there, or another order has shown that it takes too long."""
    for line in lines:
        same = (line["library"], line["policy"], line["data"]) == cell.key[:3]
        same &= line["made_with"] == cell.entrant.made_with
        whole = line["order"] == cell.key[3] and int(line["rounds"]) == cell.data.rounds
        if same and (whole or float(line["seconds"]) >= cell.limit):
            return True
    return False


def _read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def _append(path: Path, cell: Cell, outcome: Outcome) -> None:
    """Put the line where it belongs; lines of policies that are gone are forgotten.

    The file begins with the command that makes it; its lines name what they were made with.
    """
    numbers = (str(outcome.rounds), f"{outcome.mean_reward:.6g}", f"{outcome.seconds:.4g}")
    lines = {tuple(line.values())[:4]: tuple(line.values()) for line in _read(path)}
    lines[cell.key] = (*cell.key, *numbers, cell.entrant.made_with)
    kept = sorted((line for line in lines.values() if _place(line)), key=_place)
    records = [dict(zip(FIELDS, line, strict=True)) for line in kept]
    write_csv(path, records, note=str(stamp("python benchmarks/field.py")))


def _place(line: tuple[str, ...]) -> tuple[int, ...]:
    """Return where the line comes in the file; empty for a policy that does not compete."""
    known = [(entrant.library, entrant.policy) for entrant in ENTRANTS]
    if line[:2] not in known:
        return ()
    return known.index((line[0], line[1])), NAMES.index(line[2]), int(line[3])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", choices=NAMES, metavar="NAME")
    parser.add_argument("--only", nargs="+", choices=sorted({e.library for e in ENTRANTS}))
    parser.add_argument("--rounds", type=int, help="play no more of any set")
    parser.add_argument("--out", type=Path, metavar="FILE")
    options = parser.parse_args()
    trial = ROOT / ".benchmarks" / "field" / f"{options.rounds}.csv"
    options.out = options.out or (trial if options.rounds else RESULTS)
    return options


if __name__ == "__main__":
    main()
