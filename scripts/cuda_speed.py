"""Measure how long a GPU needs for the paper's contextual figure, beside what its chip allows.

    python scripts/cuda_pieces.py rows rows.npz statlog covertype adult
    python scripts/cuda_speed.py rows.npz speed.csv

For each policy and data set 100 runs are laid in the middle of either half of their rounds, with
made-up histories in which three of four pulls are right. From there a few rounds are played. As the
time of a round grows evenly with the histories, the mean of the two times all rounds is the time of
the runs. The limit is what the chip could do if it did nothing but the products that cannot be left
out: of a network those forward and backward in single precision, of a linear model its Gram matrix
on tensor cores in double precision, of a logistic one a Hessian on tensor cores (each number in two
parts, three products) and two gradients in double precision. Policies whose work does not grow with
the history, or which fit only the pulled arm, have no limit here.
"""

import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from cuda_pieces import read_rows

from giro.kernels.cuda.source import source_of
from giro.policy import Policy
from giro.problem import Problem
from giro.problems import classification
from giro.simulation.engines._cuda_plans import plan_for
from giro.simulation.engines._cuda_play import lay, play_rounds, put_rows
from giro.simulation.engines.cuda import Gpu
from giro.simulation.play import Work
from giro.simulation.simulate import make_setting
from giro.tables import write_csv
from giro.version import stamp

RUNS, ROUNDS, SHARE = 100, 50_000, 0.75
DATA = ("statlog", "covertype", "adult")
GIRO, GREEDY = "contextual-giro:a=1,model=", "epsilon-greedy:share=0.01,model="
POLICIES = (
    *(GIRO + model for model in ("linear", "logistic", "network")),
    *(GREEDY + model for model in ("linear", "logistic", "network")),
    *("lin-ucb", "lin-ts", "ucb-glm"),
)
HIDDEN = 10
# products a multiprocessor of compute capability 9.0 does in a cycle, by NVIDIA's tables
SINGLE, DOUBLE, DOUBLE_TENSOR, SINGLE_TENSOR = 128, 64, 128, 1024


def cycles_of(policy: str, d: int) -> float | None:
    """Return the least cycles of a multiprocessor for an entry of a history or of its sample."""
    gram = d * (d + 1) / 2
    if policy == GIRO + "linear":
        return gram / DOUBLE_TENSOR / 3.0  # of a row, which stands for three entries
    if policy == GIRO + "logistic":
        return (3.0 * gram / SINGLE_TENSOR + 2.0 * 2.0 * d / DOUBLE) / 3.0
    if "network" in policy:
        return 2.0 * d * HIDDEN / SINGLE
    return None


def histories(problem: Any, order: np.ndarray, played: int) -> dict[str, np.ndarray]:
    """Return histories of so many rounds in all runs, as the kernels have them."""
    rng = np.random.Generator(np.random.PCG64(1))
    labels = problem.rows.labels[order[:, :played]]
    arms = np.where(
        rng.random(labels.shape) < SHARE, labels, rng.integers(problem.n_arms, size=labels.shape)
    )
    history = np.zeros((len(order), problem.n_arms, ROUNDS, 2), np.int32)
    for run, arm in np.ndindex(len(order), problem.n_arms):
        here = np.flatnonzero(arms[run] == arm)
        rewards = (labels[run, here] == arm).astype(np.float32)
        history[run, arm, : here.size] = np.stack([order[run, here], rewards.view(np.int32)], 1)
    lengths = np.array([np.bincount(row, minlength=problem.n_arms) for row in arms])
    ranks = np.argsort(-lengths, axis=1, kind="stable")
    return {"history": history, "length": lengths, "ranks": ranks}


def laid_after(device: Gpu, work: Work, rows: Any, begin: dict[str, np.ndarray]) -> Any:
    """Return runs that have these histories."""
    table = lay(device, work, range(len(begin["length"])), rows)
    for name, array in begin.items():
        to = table.arrays[name]
        to[...] = device.put(array.astype(to.dtype))
    device.wait()
    return table


def seconds_of_a_round(
    device: Gpu, work: Work, rows: Any, begin: dict[str, np.ndarray], played: int
) -> float:
    """Return how long a round of all runs takes after so many."""
    table = laid_after(device, work, rows, begin)
    first, rounds = played, 3
    while True:
        began = time.perf_counter()
        play_rounds(device, table, first, first + rounds)
        device.wait()
        seconds = time.perf_counter() - began
        if rounds > 3 and seconds > 0.1:  # the first rounds compile, and fit from nothing
            return seconds / rounds
        first, rounds = first + rounds, max(5, rounds * 2 if seconds < 0.1 else rounds)


def compile_all(device: Gpu) -> None:
    """Compile what will be needed, which CuPy keeps in a file."""
    for data in DATA:
        problem = Problem.parse(f"classification:data={data},scale=column")
        for policy in POLICIES:
            plan = plan_for(Policy.parse(policy), problem, ROUNDS)
            for step in plan.steps:
                device.compile(source_of(step.files, plan.constants)).get_function(step.function)


def main(rows_file: str, table_file: str) -> None:
    """Write a line for each data set and policy."""
    classification.load = lru_cache(lambda name: read_rows(Path(rows_file), name))
    device: Any = Gpu()
    if table_file == "compile":
        return compile_all(device)
    import cupy  # noqa: PLC0415  # few machines have it

    found = cupy.cuda.Device().attributes
    rate = found["MultiProcessorCount"] * found["ClockRate"] * 1e3
    lines: list[dict[str, Any]] = []
    depths = (ROUNDS // 4, 3 * ROUNDS // 4)
    for data in DATA:
        problem: Any = Problem.parse(f"classification:data={data},scale=column")
        rows = put_rows(device, problem)
        works = [
            Work(Policy.parse(p), problem, make_setting(p, problem, rounds=ROUNDS, seed=0))
            for p in POLICIES
        ]
        order = lay(device, works[-2], range(RUNS), rows).order
        times = np.zeros((len(depths), len(works)))
        for i, depth in enumerate(depths):
            begin = histories(problem, order, depth)
            for j, work in enumerate(works):
                times[i, j] = seconds_of_a_round(device, work, rows, begin, depth)
        for work, (early, late) in zip(works, times.T, strict=True):
            policy, seconds = work.setting.policy, ROUNDS * (early + late) / 2
            cycles = cycles_of(policy, problem.n_features + 1)
            entries = (3.0 if "giro" in policy else 1.0) * RUNS * ROUNDS**2 / 2
            line: dict[str, Any] = {"data": data, "policy": policy, "seconds": round(seconds, 1)}
            speed = entries / seconds
            line |= {
                "entries_per_second": f"{speed:.3g}" if cycles else "",
                "limit": f"{rate / cycles:.3g}" if cycles else "",
                "share": f"{speed * cycles / rate:.3f}" if cycles else "",
            }
            lines.append(line)
            sys.stdout.write(" ".join(str(value) for value in line.values()) + "\n")
            sys.stdout.flush()
    total = sum(line["seconds"] for line in lines)
    sys.stdout.write(f"the figure: {total:.0f} s\n")
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    command = f"python scripts/cuda_speed.py rows.npz speed.csv ({name})"
    write_csv(Path(table_file), lines, note=str(stamp(command)))


if __name__ == "__main__":
    main(*sys.argv[1:])
