"""Time of a round where arms have features: giro's policies beside Vowpal Wabbit, on one core.

    python benchmarks/arms_speed.py [--quick]

On rounds of `movielens`, in turn and in one command: each policy simulated; VW `--bag 5` called
from Python line by line, predict and learn, on the same rounds; and VW learning as many logged
events from its own binary cache, which it has written before. Then the cost of a round against the
arms on offer, and against their features that are not zero, drawn from 10,000, without a context;
only of policies with a hashed model, as others would need a matrix of all columns.

Times are µs of processor time a round, the least of some repeats, without compiling and without
starting a run. Prints all and writes results/arms/speed.json.
"""

import argparse
import json
import math
import platform
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from python_libraries import Trouble
from ratio import cost_of, results, say
from rounds_for_vw import VW, find_movielens, played_by_vw, write_rounds

from giro import GiroError, Policy, Problem
from giro.compiling import kernel
from giro.offer import Offer, SparseRows
from giro.problem import Means
from giro.simulation.play import play_run
from giro.version import stamp

POLICIES = (
    "giro-ensemble:model=hashed,replicas=20",
    "giro-ensemble:model=linear,replicas=20",
    "lin-ucb",
)
BAG = "--bag 5 -q UF"
ALONE = "--bag 5"  # where nothing is known of the round
BY_LINE, BY_CACHE = f"VW {BAG}, line by line", f"VW {BAG}, from its cache"
SIZES = (10, 100, 1_000)
SEED = 300


class _Instance(NamedTuple):
    arms: np.ndarray  # [i] all of them
    begin: np.ndarray  # [i + 1] of the rows of a block
    columns: np.ndarray  # [block, j]
    values: np.ndarray  # [block, j]
    means: np.ndarray  # [block, i]
    context: np.ndarray  # none


@kernel
def _reveal(instance: _Instance, t: int, rng: np.random.Generator) -> tuple[Offer, Means, float]:
    block = t % instance.columns.shape[0]
    rows = SparseRows(instance.begin, instance.columns[block], instance.values[block])
    return Offer(instance.arms, instance.context, rows), instance.means[block], 1.0


@kernel
def _reward(instance: _Instance, means: Means, arm: int, rng: np.random.Generator) -> float:
    return float(means[arm])


@dataclass(frozen=True)
class Wide(Problem, name="wide"):
    """A few blocks of arms, in turn, each arm with `filled` features that are not zero."""

    source = "made up for this"
    reveal = staticmethod(_reveal)
    reward = staticmethod(_reward)

    n_arms: int = 10
    filled: int = 10
    columns: int = 10_000
    blocks: int = 16

    @property
    def n_arm_features(self) -> int:  # type: ignore[override]  # known with the parameters
        """Columns of which most are zero."""
        return self.columns

    def start(self, rng: np.random.Generator) -> _Instance:
        """Return the blocks; the mean of an arm is drawn."""
        size = self.n_arms * self.filled
        return _Instance(
            np.arange(self.n_arms),
            self.filled * np.arange(self.n_arms + 1),
            rng.integers(0, self.columns, (self.blocks, size)),
            rng.random((self.blocks, size)),
            rng.random((self.blocks, self.n_arms)),
            np.empty(0),
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="does it work? writes elsewhere")
    quick = parser.parse_args().quick
    find_movielens()
    rounds, repeats = (500, 1) if quick else (20_000, 3)
    beside = _beside_vw(POLICIES, rounds, repeats)
    scaled = [text for text in POLICIES if "hashed" in text]
    sizes = SIZES[:2] if quick else SIZES
    cost = {
        "arms on offer": [_scaled(scaled, n, 10, repeats) for n in sizes],
        "features not zero": [_scaled(scaled, 10, n, repeats) for n in sizes],
    }
    _write(results(quick) / "arms", beside, cost, sizes, rounds)


def _beside_vw(policies: Sequence[str], rounds: int, repeats: int) -> dict[str, float]:
    """Return µs a round of each on movielens, the least of some repeats in turn."""
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rounds(folder, Problem.parse("movielens"), rounds=rounds, seed=SEED, run=0)
        works: dict[str, Callable[[], float]] = {
            text: _simulated(text, _films_for(text), rounds) for text in policies
        }
        works[BY_LINE] = lambda: _by_vw(folder, BAG, rounds, "play")
        works[BY_CACHE] = lambda: _by_vw(folder, BAG, rounds, "cache")
        for repeat in range(repeats):
            for who, work in works.items():
                say(f"  {repeat + 1}/{repeats} {who}")
                try:
                    found.setdefault(who, []).append(work())
                except (GiroError, Trouble) as error:
                    say(f"  left out: {error}")
    return {who: min(times) for who, times in found.items() if times}


def _films_for(text: str) -> Problem:
    return Problem.parse("movielens" if "hashed" in text else "movielens:ids=false")


def _simulated(text: str, problem: Problem, rounds: int) -> Callable[[], float]:
    """Return what measures µs a round of a policy: of a run, less one of a single round.

    Starting takes a while, as tables are large; the least time that it took counts.
    """
    policy, least = Policy.parse(text), math.inf

    def seconds(n: int) -> float:
        return cost_of(lambda: play_run(policy, problem, np.array([n]), seed=SEED, run=0)).cpu

    def work() -> float:
        nonlocal least
        if math.isinf(least):
            seconds(1)  # compiles
        least = min(least, *(seconds(1) for _ in range(3)))
        return 1e6 * (seconds(rounds + 1) - least) / rounds

    return work


def _by_vw(folder: Path, arguments: str, rounds: int, how: str) -> float:
    """Return VW's µs a round."""
    (outcome,) = played_by_vw(folder, [arguments], seed=0, how=how)
    return 1e6 * outcome.seconds / rounds


def _scaled(policies: Sequence[str], n_arms: int, filled: int, repeats: int) -> dict[str, float]:
    """Return µs a round of each with so many arms on offer and features of each."""
    problem, rounds = Wide(n_arms, filled), max(500, 2_000_000 // (n_arms * filled))
    works = {text: _simulated(text, problem, rounds) for text in policies}
    times = {who: min(work() for _ in range(repeats)) for who, work in works.items()}
    with tempfile.TemporaryDirectory() as name:
        some = max(100, rounds // 10)
        write_rounds(Path(name), problem, rounds=some, seed=SEED, run=0)
        times[f"VW {ALONE}"] = _by_vw(Path(name), ALONE, some, "play")
    say(f"  {n_arms} arms, {filled} features: {times}")
    return times


def _write(
    folder: Path,
    beside: dict[str, float],
    cost: dict[str, list[dict[str, float]]],
    sizes: Sequence[int],
    rounds: int,
) -> None:
    """Print everything and write it."""
    print(f"movielens, {rounds:,} rounds, seed {SEED}: µs a round, and VW's times over it")
    for who, us in beside.items():
        ratios = [beside[vw] / us for vw in (BY_LINE, BY_CACHE) if vw in beside]
        print(f"  {us:9.2f}  " + "".join(f"{ratio:9.2f}" for ratio in ratios) + f"  {who}")
    for against, several in cost.items():
        print(f"against {against} ({', '.join(f'{size:,}' for size in sizes)}): µs a round")
        for who in several[0]:
            print("  " + "".join(f"{times[who]:11.2f}" for times in several) + f"  {who}")
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "made_by": stamp("python benchmarks/arms_speed.py")._asdict(),
        "made_with": [VW.requirements[0], platform.machine()],
        "movielens_us_per_round": _rounded(beside),
        "sizes": list(sizes),
        "us_per_round_against": {
            against: {who: [_rounded(times)[who] for times in several] for who in several[0]}
            for against, several in cost.items()
        },
    }
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    (folder / "speed.json").write_text(text, "utf-8")


def _rounded(times: dict[str, float]) -> dict[str, float]:
    return {who: float(f"{us:.4g}") for who, us in times.items()}


if __name__ == "__main__":
    main()
