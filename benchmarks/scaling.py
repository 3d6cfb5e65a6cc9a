"""What a million runs cost: measured on a few, here, and extrapolated.

python benchmarks/scaling.py            (the engine ray is measured if Ray is installed)

Every number of docs/scaling.md is printed by this command, which also writes results/scaling.csv.
Core time is the processor time of this process, so that it means the same on a busy machine.
Wall times do not: beside them stands how many cores two threads were granted that have nothing to
do with giro. Only where that is near 2 do wall times say how giro scales.
"""

import hashlib
import importlib.util
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from giro import Policy, Problem, simulate
from giro.simulation import engines
from giro.simulation.engines import EngineName, open_engine
from giro.simulation.play import Work
from giro.simulation.simulate import make_setting
from giro.tables import write_csv
from giro.version import stamp

POLICIES = ("ucb1", "thompson", "kl-ucb", "giro:a=1")
ROUNDS = 10_000
RUNS = 60
MILLION = 1_000_000
N_CHUNKS = 200
RESULTS = Path(__file__).parent.parent / "results" / "scaling.csv"


class Line(NamedTuple):
    """One number that was measured, or follows from such."""

    what: str
    of: str
    workers: int | str
    value: float
    unit: str


def granted(moment: str) -> Iterator[Line]:
    """Count the cores that two threads get which only compute checksums, free of Python's lock."""
    data = bytes(50_000_000)
    wall, core = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: hashlib.sha256(data).digest(), range(40)))
    wall, core = time.perf_counter() - wall, time.process_time() - core
    yield Line(f"cores granted to 2 threads, {moment}", "sha256", 2, core / wall, "")


def policy_lines(policy: str) -> Iterator[Line]:
    """Time `RUNS` runs with 1 and with 2 threads, after the kernels are compiled."""
    simulate(policy, "bernoulli", rounds=10, runs=1)
    for jobs in (1, 2):
        wall, core = time.perf_counter(), time.process_time()
        simulate(policy, "bernoulli", rounds=ROUNDS, runs=RUNS, jobs=jobs, points=20)
        wall, core = time.perf_counter() - wall, time.process_time() - core
        per_million = MILLION / RUNS
        yield Line("wall time of a million runs", policy, jobs, wall * per_million, "s")
        yield Line("core time of a million runs", policy, jobs, core * per_million, "s")
        yield Line("core time of a million runs", policy, jobs, core * per_million / 3600, "h")


def engine_lines(engine: EngineName) -> Iterator[Line]:
    """Time the start of an engine of two workers, and chunks that hold next to no work."""
    policy, problem = Policy.parse("ucb1"), Problem.parse("bernoulli")
    work = Work(policy, problem, make_setting(policy, problem, rounds=1, seed=0, points=20))
    began = time.perf_counter()
    with open_engine(engine, jobs=2) as opened:
        list(opened.finished(work, range(8)))  # workers are up and have compiled
        yield Line("start, first chunks, compiling", engine, 2, time.perf_counter() - began, "s")
        wall, core = time.perf_counter(), time.process_time()
        n = sum(1 for _ in opened.finished(work, range(N_CHUNKS)))
        wall, core = time.perf_counter() - wall, time.process_time() - core
        yield Line("wall time of an empty chunk", engine, 2, 1000 * wall / n, "ms")
        yield Line("core time of an empty chunk, here", engine, 2, 1000 * core / n, "ms")


def memory_lines() -> Iterator[Line]:
    """Count the bytes that the traces of a million runs take."""
    for points in (20, 200):
        trace = simulate("ucb1", "bernoulli", rounds=ROUNDS, runs=2, points=points)
        arrays = (trace.regret, trace.reward, trace.best, trace.pulls, trace.seconds, trace.runs)
        size = sum(array.nbytes for array in arrays) / 2 * MILLION / 1e9
        yield Line("memory of a million runs", f"--points {points}", "-", size, "GB")


def all_lines() -> Iterator[Line]:
    """Measure everything."""
    yield from granted("before")
    for policy in POLICIES:
        yield from policy_lines(policy)
    yield from granted("after")
    engines._SECONDS = engines._SECONDS_PER_WORKER = 0.0  # so that every chunk is a single run
    yield from engine_lines("threads")
    for engine, module in (("dask", "distributed"), ("ray", "ray")):
        if importlib.util.find_spec(module):
            yield from engine_lines(engine)  # type: ignore[arg-type]  # one of the literals
    yield from memory_lines()


def main() -> None:
    """Print each number as it is known, and write them all."""
    lines = []
    for line in all_lines():
        print(f"{line.what:38} {line.of:12} {line.workers!s:>2} {line.value:14,.3f} {line.unit}")
        lines.append(line)
    records = [line._replace(value=round(line.value, 3))._asdict() for line in lines]
    write_csv(RESULTS, records, note=str(stamp("python benchmarks/scaling.py")))


if __name__ == "__main__":
    main()
