"""Giro against the field: mean reward and seconds on three data sets, in five orders of their rows.

    python benchmarks/field.py [--rounds N] [--orders N] [--limit S] [--only WHAT ...] [--out FILE]

Writes results/field/field.csv, a line for each policy, data set and order as it ends; a line that
is there is not computed again, unless its library has changed. The order of the rows is that of
giro's run of the same number, and every policy meets the same rows with columns standardised. Each
plays on one core. Seconds are processor time of choosing and learning, without compiling or
importing; VW's are those of its whole simulation, which reads a binary cache of the rows. A policy
of a library in Python that needs more than the limit stops there, and plays one order only: the
line says how many rounds it saw. Other numbers of rounds than usual go to .benchmarks/field, so
that a trial does not replace what the document shows.

Giro competes with giro-ensemble and its defaults, the same for all; they were chosen on synthetic
problems and Statlog, without Covertype and Adult (ensemble_defaults.py). The others have their
defaults too, but that contextualbandits learns in batches of 50 rounds, as its calls are made for.
Giro's LinUCB and LinTS with the widths of MABWiser's are there to be compared with those.
"""

import argparse
import csv
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from classifying_peers import CONTEXTUALBANDITS, MABWISER, VW, Library, Outcome, played
from python_libraries import Trouble
from ratio import cost_of, say
from rows_in_order import rows_in_order, write_rows

from giro import Policy, Problem, simulate
from giro.simulation.play import play_run
from giro.tables import write_csv
from giro.version import __version__

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "field" / "field.csv"
DATA = ("statlog", "covertype", "adult")
FIELDS = ("library", "policy", "data", "order", "rounds", "mean_reward", "seconds", "made_with")
ROUNDS, ORDERS, LIMIT = 50_000, 5, 600.0
SEED = 0
OURS = Policy.parse("giro-ensemble").text  # with its defaults

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
    data: str
    order: int

    @property
    def key(self) -> tuple[str, ...]:
        """What tells it from other lines."""
        return (self.entrant.library, self.entrant.policy, self.data, str(self.order))


def _ours(policy: str, cell: Cell, rounds: int) -> Outcome:
    """Return how one of giro's own policies does."""
    problem = Problem.parse(f"classification:data={cell.data}")
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
    _peer(VW, "--cbify K --bag 5", "bag"),
    _peer(VW, "--cbify K --epsilon 0.05", "epsilon"),
    _peer(CONTEXTUALBANDITS, "BootstrappedTS, LinearRegression, batches of 50", "linear"),
    _peer(CONTEXTUALBANDITS, "BootstrappedTS, SGDClassifier, batches of 50", "logistic"),
    _peer(MABWISER, "LinUCB", "lin-ucb"),
    _peer(MABWISER, "LinTS", "lin-ts"),
    _our("lin-ucb:scale=1"),
    _our("lin-ts:scale=1"),
)


def main() -> None:
    """Compute what is missing and print everything."""
    options = _options()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    for order in range(options.orders):
        for data in DATA:
            _play_all(data, order, options)
    _note_command(options)
    _print_table(_read(options.out))


def _play_all(data: str, order: int, options: argparse.Namespace) -> None:
    """Let every entrant that has not done so play this data set in this order."""
    cells = [
        Cell(e, data, order) for e in ENTRANTS if not options.only or e.library in options.only
    ]
    lines = _read(options.out)
    missing = [cell for cell in cells if not _is_settled(cell, lines, options)]
    if not missing:
        return
    problem = Problem.parse(f"classification:data={data}")
    with tempfile.TemporaryDirectory() as name:
        rows = rows_in_order(problem, rounds=options.rounds, seed=SEED, run=order)
        write_rows(Path(name), *rows)
        for cell in missing:
            say(" ".join(cell.key))
            try:
                _append(options.out, cell, _outcome(cell, Path(name), problem.n_arms, options))
            except Trouble as trouble:
                say(f"  left out: {trouble}")


def _outcome(cell: Cell, folder: Path, n_arms: int, options: argparse.Namespace) -> Outcome:
    if cell.entrant.library == "giro":
        return cell.entrant.play(cell, options.rounds)
    return cell.entrant.play(folder, n_arms=n_arms, seed=cell.order, limit=options.limit)


def _is_settled(cell: Cell, lines: list[dict[str, str]], options: argparse.Namespace) -> bool:
    """Tell whether the line is there, or another order has shown that it takes too long."""
    for line in lines:
        same = (line["library"], line["policy"], line["data"]) == cell.key[:3]
        same &= line["made_with"] == cell.entrant.made_with
        whole = line["order"] == cell.key[3] and int(line["rounds"]) == options.rounds
        if same and (whole or float(line["seconds"]) >= options.limit):
            return True
    return False


def _read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def _append(path: Path, cell: Cell, outcome: Outcome) -> None:
    """Put the line where it belongs; lines of policies that are gone are forgotten."""
    numbers = (str(outcome.rounds), f"{outcome.mean_reward:.6g}", f"{outcome.seconds:.4g}")
    lines = {tuple(line.values())[:4]: tuple(line.values()) for line in _read(path)}
    lines[cell.key] = (*cell.key, *numbers, cell.entrant.made_with)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        writer.writerows(sorted((line for line in lines.values() if _place(line)), key=_place))


def _place(line: tuple[str, ...]) -> tuple[int, ...]:
    """Return where the line comes in the file; empty for a policy that does not compete."""
    known = [(entrant.library, entrant.policy) for entrant in ENTRANTS]
    if line[:2] not in known:
        return ()
    return known.index((line[0], line[1])), DATA.index(line[2]), int(line[3])


def _print_table(lines: list[dict[str, str]]) -> None:
    print(f"{'':<58}" + "".join(f"{data:>30}" for data in DATA))
    for entrant in ENTRANTS:
        name = f"{entrant.library} {entrant.policy}"
        print(f"{name:<58}" + "".join(f"{text:>30}" for text in _cells(entrant, lines)))


def _cells(entrant: Entrant, lines: list[dict[str, str]]) -> Iterator[str]:
    for data in DATA:
        found = [line for line in lines if _belongs(line, entrant, data)]
        rewards = [float(line["mean_reward"]) for line in found]
        seconds = [float(line["seconds"]) for line in found]
        orders = f"{len(found)} orders"
        yield f"{np.mean(rewards):.3f} in {np.mean(seconds):.1f} s, {orders}" if found else "-"


def _belongs(line: dict[str, str], entrant: Entrant, data: str) -> bool:
    return (line["library"], line["policy"], line["data"]) == (*entrant[:2], data)


def _note_command(options: argparse.Namespace) -> None:
    """Begin the file with the command that makes it; its lines name what they were made with."""
    lines = _read(options.out)
    orders = 1 + max((int(line["order"]) for line in lines), default=-1)
    given = f"--rounds {options.rounds} --orders {orders} --limit {options.limit:g}"
    write_csv(options.out, lines, note=f"python benchmarks/field.py {given}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--orders", type=int, default=ORDERS)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for a policy and order")
    parser.add_argument("--only", nargs="+", choices=sorted({e.library for e in ENTRANTS}))
    parser.add_argument("--out", type=Path, metavar="FILE")
    options = parser.parse_args()
    trial = ROOT / ".benchmarks" / "field" / f"{options.rounds}.csv"
    options.out = options.out or (RESULTS if options.rounds == ROUNDS else trial)
    return options


if __name__ == "__main__":
    main()
