"""Choose how wide the default explores where rewards are high, on sets made from the tuning half.

    python benchmarks/width_settings.py [--out FILE]

The tuning half has no set of which one class is nearly all and none with more columns than most
arms see rows. So ten are made of its sets, by `derived`: eight in which about 95 % of the rows are
of one class, two of 2,930 rows and 312 columns with graded rewards. They and the 18 sets of the
tuning half with at least 2,000 rows are played for their rows, at most 10,000, in three orders.

The rule, written down before the derived sets were played: a width other than that which does not
depend on rewards is taken if on the tuning half it earns at most 0.0005 less on average and has no
more losses than wins against it, and on the derived sets it earns at least 0.001 more and has two
wins for every loss, both against it and against ε-greedy around the same models (paired t tests
over the orders, two-sided at 5 %). Of several the one that earns most on the derived sets is taken.
The judging half and the paper's three sets are not looked at.

Writes results/bakeoff/width.csv, a line for each width, set and order; lines that are there are
not played again. It also holds what was tried and is gone (docs/bakeoff.md): `constant` is the
width that does not depend on rewards, with untried arms expected to pay 0.
"""

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from ratio import say

from giro import simulate
from giro.paper.claims import LEVEL, p_value_of
from giro.paper.studies._bakeoff_sets import FOLDER, LABEL, sets_there
from giro.simulation.metrics import estimate
from giro.tables import write_csv

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "bakeoff" / "width.csv"
ROUNDS, ORDERS, SHARE, COLUMNS, ROWS = 10_000, 3, 0.05, 312, 2_930
GREEDY, CONSTANT, SHORTFALL = "epsilon-greedy", "constant", "shortfall"
PLAYED = {GREEDY: "epsilon-greedy:model=auto", SHORTFALL: "rand-ucb:model=auto"}
THINNED = {  # rows of all other classes are drawn, until they are SHARE of all
    "credit": "good",
    "phone-churn": "no",
    "internet-churn": "No",
    "spam": "nonspam",
    "dna": "n",
}
ONE_OF = {"letter": "A", "twenty": 0, "income": 9}  # this class against all others
WIDENED = ("income", "texas-housing")  # products of columns are added

Key = tuple[str, str]
Known = dict[Key, np.ndarray]  # mean reward by order


def derived(folder: Path) -> Iterator[tuple[str, pl.DataFrame, bool]]:
    """Yield the name of each derived set, its rows, and whether its rewards are graded."""
    rng = np.random.default_rng(0)  # noqa: TID251  # data, not draws of a policy
    for name, common in THINNED.items():
        data = pl.read_parquet(folder / f"{name}.parquet")
        most, rest = data.filter(pl.col(LABEL) == common), data.filter(pl.col(LABEL) != common)
        kept = rng.permutation(rest.height)[: round(most.height * SHARE / (1.0 - SHARE))]
        yield f"{name}-thinned", pl.concat([most, rest[kept]]), False
    for name, one in ONE_OF.items():
        data = pl.read_parquet(folder / f"{name}.parquet")
        yield f"{name}-one", data.with_columns((pl.col(LABEL) == one).cast(pl.Int64)), False
    for name in WIDENED:
        data = pl.read_parquet(folder / f"{name}.parquet")
        data = data[rng.permutation(data.height)[:ROWS]]
        kinds = [c for c in data.columns if c != LABEL and _is_kind(data[c])]
        x = data.drop(LABEL).to_dummies(kinds).cast(pl.Float64).to_numpy()
        x = (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-9)
        pairs = rng.integers(x.shape[1], size=(COLUMNS - x.shape[1], 2))
        x = np.hstack([x, x[:, pairs[:, 0]] * x[:, pairs[:, 1]]])
        columns = {f"x{i}": x[:, i] for i in range(COLUMNS)}
        yield f"{name}-widened", pl.DataFrame({**columns, LABEL: data[LABEL]}), True


def _is_kind(column: pl.Series) -> bool:
    return column.dtype in {pl.String, pl.Int8}


def main() -> None:
    """Play what is missing, and say how the candidates fare."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=RESULTS)
    out = parser.parse_args().out
    known = _read(out)
    halves: dict[str, list[str]] = {"derived": [], "tuning": []}
    with TemporaryDirectory() as folder:
        for name, data, graded in derived(FOLDER):
            path = Path(folder) / f"{name}.parquet"
            data.write_parquet(path)
            text = f"classification:data={path.as_posix()},label={LABEL},scale=column"
            _play(name, text + ",graded=true" * graded, data.height, known, out)
            halves["derived"].append(name)
    for each in sets_there():
        if each.half == "tuning" and not each.small:
            _play(each.name, each.problem, each.rounds, known, out)
            halves["tuning"].append(each.name)
    for half, names in halves.items():
        for width in dict.fromkeys(width for width, _ in known):
            say(f"{half}: {width}: {_summary(known, width, names)}")


def _play(name: str, problem: str, rows: int, known: Known, out: Path) -> None:
    """Play what is not known of a set."""
    for width, policy in PLAYED.items():
        if (width, name) not in known:
            rounds = min(rows, ROUNDS)
            trace = simulate(policy, problem, rounds=rounds, runs=ORDERS, points=1)
            known[width, name] = trace.reward[:, -1] / rounds
            _write(out, known)


def _summary(known: Known, width: str, names: list[str]) -> str:
    """Return how a width fares on the sets on which it was played."""
    names = [name for name in names if (width, name) in known]
    if not names:
        return "not played"
    parts = [f"{len(names)} sets, {np.mean([known[width, name] for name in names]):.4f}"]
    for other in (CONSTANT, GREEDY):
        if other != width:
            gain = np.mean([known[width, name] - known[other, name] for name in names])
            wins, losses = _judged(known, width, other, names)
            parts.append(f"{gain:+.4f}, {wins} wins, {losses} losses against {other}")
    return "; ".join(parts)


def _judged(known: Known, width: str, other: str, names: list[str]) -> tuple[int, int]:
    """Return wins and losses."""
    wins = losses = 0
    for name in names:
        gain = estimate(known[width, name] - known[other, name])
        if p_value_of(gain, ORDERS) <= LEVEL:
            wins, losses = wins + (gain.mean > 0.0), losses + (gain.mean < 0.0)
    return wins, losses


def _read(path: Path) -> Known:
    known: Known = {}
    if path.exists():
        with path.open() as file:
            for row in csv.DictReader(line for line in file if not line.startswith("#")):
                rewards = known.setdefault((row["width"], row["set"]), np.empty(ORDERS))
                rewards[int(row["order"])] = float(row["mean_reward"])
    return known


def _write(path: Path, known: Known) -> None:
    records = [
        {"width": width, "set": name, "order": order, "mean_reward": f"{reward:.6f}"}
        for (width, name), rewards in known.items()
        for order, reward in enumerate(rewards)
    ]
    write_csv(path, records, note="python benchmarks/width_settings.py")


if __name__ == "__main__":
    main()
