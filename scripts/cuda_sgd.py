"""Compare the kernel of stochastic gradient with an earlier one on a GPU, and predict long runs.

    python scripts/cuda_pieces.py rows rows.npz statlog covertype adult
    git archive --prefix=earlier/ COMMIT src/giro/kernels/cuda | tar x
    python scripts/cuda_sgd.py rows.npz earlier/src/giro/kernels/cuda

For each data set and scale, linear Giro plays 20 runs of 1,000 rounds with both kernels. Printed
are the share of equal arms, both mean rewards and the seconds of both. Then come the milliseconds
of a round after 10,000, 25,000 and 45,000 rounds of made-up histories, in which three of four pulls
are right, and the seconds that 50,000 rounds take by them, if the setting is alone. At last all
settings are played together after 25,000 rounds, a stream each.
"""

import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import cupy
import numpy as np
from cuda_pieces import read_rows
from cuda_speed import DATA, ROUNDS, histories, laid_after, seconds_of_a_round

from giro.policy import Policy
from giro.problem import Problem
from giro.problems import classification
from giro.simulation.engines._cuda_play import lay, play_rounds, play_runs, put_rows
from giro.simulation.engines.cuda import Gpu
from giro.simulation.play import Work
from giro.simulation.simulate import make_setting

SCALES = ("column", "unit", "range")
POLICY = "contextual-giro:a=1,model=linear-sgd"
RUNS, FEW, TOGETHER = range(20), 1_000, 25_000
DEPTHS = (10_000, TOGETHER, 45_000)
FILES = ("game.cuh", "copies.cuh", "order.cuh", "columns.cuh", "sgd.cu")


class Earlier(Gpu):
    """A GPU with the earlier kernel, of one warp."""

    def __init__(self, folder: Path) -> None:
        """Read the kernel."""
        super().__init__()
        self._text = "\n".join((folder / name).read_text(encoding="utf-8") for name in FILES)

    def compile(self, source: str) -> Any:
        """Return its kernels."""
        if "fit_arms(" not in source:
            return super().compile(source)
        given = source[: source.index("// What every kernel shares")].splitlines()
        given = [line for line in given if not line.startswith("#define B")]
        return super().compile("\n".join([*given, self._text]))

    def launch(self, kernels: Any, step: Any, *others: Any) -> None:
        """Start a kernel."""
        super().launch(kernels, step._replace(threads=32), *others)


def work_of(problem: Any, rounds: int) -> Work:
    """Return linear Giro on a problem."""
    setting = make_setting(POLICY, problem, rounds=rounds, seed=0)
    return Work(Policy.parse(POLICY), problem, setting)


def compare(device: Gpu, earlier: Gpu, problem: Any, rows: Any) -> str:
    """Return how runs of few rounds differ."""
    work, arms, texts = work_of(problem, FEW), [], []
    for one in (device, earlier):
        play_runs(one, work_of(problem, 20), RUNS, rows)  # compiles
        began = time.perf_counter()
        table = lay(one, work, RUNS, rows)
        play_rounds(one, table, 0, FEW)
        one.wait()
        seconds = time.perf_counter() - began
        arms.append(one.get(table.arrays["arms"]))
        reward = (arms[-1] == problem.rows.labels[table.order]).mean()
        texts.append(f"{reward:.4f} in {seconds:.2f} s")
    return f"{(arms[0] == arms[1]).mean():.4f} equal, rewards {texts[0]}, before {texts[1]}"


def predict(device: Gpu, problem: Any, rows: Any, begins: dict[int, Any]) -> str:
    """Return the time of a round at all depths, and of all rounds."""
    work = work_of(problem, ROUNDS)
    times = [seconds_of_a_round(device, work, rows, begins[depth], depth) for depth in DEPTHS]
    edges = (0.0, times[0], times[1], times[2], times[2] + (times[2] - times[1]) / 4)
    total = np.trapezoid(edges, (0, *DEPTHS, ROUNDS))
    return f"{', '.join(f'{1e3 * t:.2f}' for t in times)} ms a round, {total:.0f} s"


def together(device: Gpu, tables: list[Any]) -> float:
    """Return the seconds of a round of all tables, played at once."""
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in tables]
    for first, last in ((0, 4), (4, 14)):  # the first rounds fit from nothing
        cupy.cuda.Device().synchronize()
        began = time.perf_counter()
        for t in range(TOGETHER + first, TOGETHER + last):
            for table, stream in zip(tables, streams, strict=True):
                with stream:
                    play_rounds(device, table, t, t + 1)
        cupy.cuda.Device().synchronize()
    return (time.perf_counter() - began) / (last - first)


def main(rows_file: str, folder: str) -> None:
    """Print a line for each data set and scale."""
    classification.load = lru_cache(lambda name: read_rows(Path(rows_file), name))
    device, earlier, tables = Gpu(), Earlier(Path(folder)), []
    for data in DATA:
        for scale in SCALES:
            problem: Any = Problem.parse(f"classification:data={data},scale={scale}")
            rows = put_rows(device, problem)
            sys.stdout.write(f"{data} {scale}: {compare(device, earlier, problem, rows)}\n")
            order = lay(device, work_of(problem, ROUNDS), RUNS, rows).order
            begins = {depth: histories(problem, order, depth) for depth in DEPTHS}
            sys.stdout.write(f"{data} {scale}: {predict(device, problem, rows, begins)}\n")
            sys.stdout.flush()
            tables.append(laid_after(device, work_of(problem, ROUNDS), rows, begins[TOGETHER]))
    sys.stdout.write(f"all at once: {1e3 * together(device, tables):.1f} ms a round\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
