"""How often bandits are right if numbers of contexts are not as models like them.

    python benchmarks/real_contexts.py [--seeds N]

Two arms and contexts of three numbers: one arm is better where the first is positive, the other
elsewhere; the better one pays with probability 0.8, the other with 0.2. The numbers are normal, but
callers give them in other units. Prints the share of right decisions in 2,000 rounds, with
`standardise` off and on, and writes results/bandit/contexts.csv.
"""

import argparse
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
from ratio import say

from giro import Bandit
from giro.seeds import stream
from giro.tables import write_csv
from giro.version import stamp

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "bandit" / "contexts.csv"
POLICIES = ("default", "giro-ensemble", "lin-ucb:scale=0.5")
ROUNDS, GOOD, POOR = 2_000, 0.8, 0.2


def _with_gaps(x: np.ndarray) -> np.ndarray:
    return np.where(stream(9, x.shape[0]).random(x.shape) < 0.2, np.nan, 1000.0 + x)


def _with_a_slip(x: np.ndarray) -> np.ndarray:
    slipped = x.copy()
    slipped[100] = 1e18
    return slipped


WORLDS: dict[str, Callable[[np.ndarray], np.ndarray]] = {  # what callers give for normal numbers
    "normal": lambda x: x,
    "plus 1,000": lambda x: 1000.0 + x,
    "times 1e-6": lambda x: 1e-6 * x,
    "times 1e6": lambda x: 1e6 * x,
    "each another unit": lambda x: x * [1.0, 1e6, 1e-6] + [1000.0, 0.0, 0.0],
    "skewed": lambda x: np.exp(1.5 * x),
    "growing": lambda x: x + [0.0, 0.0, 1.0] * np.arange(ROUNDS)[:, None],
    "a fifth missing": _with_gaps,
    "once 1e18": _with_a_slip,
}


def right(policy: str, world: str, seed: int, *, standardise: bool) -> float:
    """Return the share of right decisions."""
    rng = stream(seed, 17)
    x = rng.normal(size=(ROUNDS, 3))
    pays = rng.random((ROUNDS, 2))
    given = WORLDS[world](x)
    bandit = Bandit(["a", "b"], policy, seed=seed, standardise=standardise)
    found = 0
    for t in range(ROUNDS):
        decision, best = bandit.decide(given[t]), "ab"[int(x[t, 0] > 0.0)]
        chance = GOOD if decision.arm == best else POOR
        bandit.reward(decision.id, float(pays[t, "ab".index(decision.arm)] < chance))
        found += decision.arm == best
    return found / ROUNDS


def _both(task: tuple[str, str, int]) -> list[float]:
    return [right(*task, standardise=on) for on in (False, True)]


def main() -> None:
    """Play everything, print the table and write it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    records = []
    say(f"{f'right of {ROUNDS:,} decisions':<40} {'as given':>16} {'standardised':>16}")
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for policy, world in product(POLICIES, WORLDS):
            tasks = [(policy, world, seed) for seed in range(options.seeds)]
            shares = np.array(list(pool.map(_both, tasks)))
            means, errors = shares.mean(axis=0), shares.std(axis=0, ddof=1) / len(tasks) ** 0.5
            shown = (f"{m:8.1%} ± {1.96 * e:.1%}" for m, e in zip(means, errors, strict=True))
            say(f"{policy:<20} {world:<19} {'  '.join(shown)}")
            cells = {"off": means[0], "off_error": errors[0], "on": means[1], "on_error": errors[1]}
            records.append(
                {"policy": policy, "world": world} | {k: f"{v:.4f}" for k, v in cells.items()}
            )
    command = f"python benchmarks/real_contexts.py --seeds {options.seeds}"
    write_csv(options.out, records, note=str(stamp(command)))


if __name__ == "__main__":
    main()
