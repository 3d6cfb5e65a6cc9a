"""Time every call of a bandit, up to a million rewards: this version beside an earlier one.

    python benchmarks/bandit_latency.py [--rounds N] [--against REVISION] [--only POLICY ...]

Each policy and version has a process of its own, one after the other. A round is a decision and its
reward. When all are learned: arms are added and retired, decisions made among a thousand different
sets of arms, the bandit is saved, loaded, and its memory measured. Writes latency.csv and .png into
results/bandit. The earlier version is taken from git and runs with the same libraries; what would
take it hours (see HOURS) is left out.
"""

import argparse
import csv
import io
import json
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from giro import Bandit
from giro.seeds import stream

ROOT = Path(__file__).parent.parent
EARLIER = "5705de3"  # the last with a state for each set of arms
ARMS, WIDTH = 10, 20
POLICIES = {"thompson": 0, "giro": 0, "giro-ensemble": WIDTH}  # features of a context
HOURS = {"giro-ensemble": {"changes", "subsets", "load"}}  # of the earlier version
SUBSETS = 1_000
CHANGES = 20  # arms that are added and retired


def main() -> None:
    """Measure what is asked for."""
    arguments = _arguments()
    if arguments.measure:
        print(json.dumps(_measured(arguments.measure, arguments.rounds, set(arguments.skip))))
        return
    folder = ROOT / "results" / "bandit"
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    with tempfile.TemporaryDirectory() as temporary:
        versions = {"now": ROOT / "src"}
        if arguments.against != "none":
            versions["before"] = earlier(arguments.against, Path(temporary))
        for policy in arguments.only or POLICIES:
            for version, source in versions.items():
                skip = HOURS.get(policy, set()) if version == "before" else set()
                found.append(_in_process(policy, version, source, arguments.rounds, skip))
                _show(found[-1])
                _write(folder / "latency.csv", found)
                _draw(folder / "latency.png", found)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=1_000_000)
    parser.add_argument("--against", default=EARLIER, help="revision, or 'none'")
    parser.add_argument("--only", nargs="*", choices=POLICIES)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--skip", nargs="*", default=[], help=argparse.SUPPRESS)
    return parser.parse_args()


def earlier(revision: str, folder: Path) -> Path:
    """Unpack the package of an earlier revision; return where to import it from."""
    archive = subprocess.run(
        ["git", "archive", revision, "src"], cwd=ROOT, capture_output=True, check=True
    )
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder / "src"


def _in_process(
    policy: str, version: str, source: Path, rounds: int, skip: set[str]
) -> dict[str, Any]:
    command = [sys.executable, __file__, "--measure", policy, "--rounds", str(rounds)]
    done = subprocess.run(
        [*command, "--skip", *sorted(skip)],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    )
    return {"policy": policy, "version": version, "rounds": rounds, **json.loads(done.stdout)}


def _measured(policy: str, rounds: int, skip: set[str]) -> dict[str, Any]:
    bandit, context = Bandit([f"arm {i}" for i in range(ARMS)], policy, seed=1), _contexts(policy)
    rng = stream(1)
    for _ in range(100):  # compile
        bandit.reward(bandit.decide(context()).id, float(rng.random() < 0.5))
    times = {"decide": np.full(rounds, np.nan), "reward": np.full(rounds, np.nan)}
    rewards = rng.random(rounds) < 0.5
    before = _memory()
    for i in range(rounds):
        x = context()
        began = time.perf_counter()
        decision = bandit.decide(x)
        decided = time.perf_counter()
        bandit.reward(decision.id, float(rewards[i]))
        times["reward"][i] = time.perf_counter() - decided
        times["decide"][i] = decided - began
    found: dict[str, Any] = {"bytes_per_round": (_memory() - before) / rounds}
    for name, values in times.items():
        found[name] = _summary(values)
    found.update(_arms_that_come_and_go(bandit, context, skip))
    found.update(_saved_and_loaded(bandit, skip))
    return found


def _contexts(policy: str) -> Any:
    width, rng = POLICIES[policy], stream(2)
    return (lambda: rng.normal(size=width)) if width else (lambda: None)


def _memory() -> int:
    """Return the memory in use now, in bytes."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize()
    except OSError:  # not on this system: the most there was
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _summary(seconds: np.ndarray) -> dict[str, Any]:
    """Return quantiles, and the longest call in each of some stretches of calls."""
    ends = np.unique(np.geomspace(1, seconds.size, 61).astype(int))
    longest = np.maximum.reduceat(seconds, np.append(0, ends[:-1]))
    return {
        "p50": float(np.quantile(seconds, 0.5)),
        "p99": float(np.quantile(seconds, 0.99)),
        "max": float(seconds.max()),
        "ends": ends.tolist(),
        "longest": longest.tolist(),
        "median": [float(np.median(part)) for part in np.split(seconds, ends[:-1]) if part.size],
    }


def _timed(act: Any) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def _arms_that_come_and_go(bandit: Any, context: Any, skip: set[str]) -> dict[str, Any]:
    names, rng = list(bandit.arms), stream(3)
    times: dict[str, list[float]] = {}
    for i in range(1 if "changes" in skip else CHANGES):
        for name, change in (("add_arm", bandit.add_arm), ("retire_arm", bandit.retire_arm)):
            times.setdefault(name, []).append(_timed(lambda act=change, i=i: act(f"new {i}")))
            after = _timed(lambda: bandit.decide(context()))
            times.setdefault(f"decide after {name}", []).append(after)
    found = {f"{name}, median": float(np.median(values)) for name, values in times.items()}
    found |= {f"{name}, longest": max(values) for name, values in times.items()}
    if "subsets" not in skip:
        sets = np.unique(rng.random((SUBSETS, len(names))) < 0.5, axis=0)
        chosen = [[name for name, on in zip(names, row, strict=True) if on] for row in sets]
        times = [
            _timed(lambda arms=arms: bandit.decide(context(), arms=arms)) for arms in chosen if arms
        ]
        found["decide among new sets, mean"] = float(np.mean(times))
        found["decide among new sets, longest"] = float(np.max(times))
    return found


def _saved_and_loaded(bandit: Any, skip: set[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bandit.giro"
        found = {"save": _timed(lambda: bandit.save(path)), "file_bytes": path.stat().st_size}
        if "load" not in skip:
            found["load"] = _timed(lambda: Bandit.load(path))
    return found


def _show(found: dict[str, Any]) -> None:
    print(f"\n{found['policy']}, {found['version']}, {found['rounds']} rounds")
    for name, value in found.items():
        if isinstance(value, dict):
            line = "  ".join(f"{key} {1e6 * value[key]:10.1f}" for key in ("p50", "p99", "max"))
            print(f"  {name:<32} µs: {line}")
        elif isinstance(value, float) and name != "bytes_per_round":
            print(f"  {name:<32} {1e3 * value:12.3f} ms")
        elif name in ("bytes_per_round", "file_bytes"):
            print(f"  {name:<32} {value:12.0f}")
    sys.stdout.flush()


def _write(path: Path, found: list[dict[str, Any]]) -> None:
    with path.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("policy", "version", "rounds", "what", "value", "unit"))
        for one in found:
            head = (one["policy"], one["version"], one["rounds"])
            for name, value in one.items():
                if isinstance(value, dict):
                    for key in ("p50", "p99", "max"):
                        rows.writerow((*head, f"{name} {key}", f"{1e6 * value[key]:.4g}", "µs"))
                elif name in ("bytes_per_round", "file_bytes"):
                    rows.writerow((*head, name, f"{value:.4g}", "bytes"))
                elif isinstance(value, float):
                    rows.writerow((*head, name, f"{1e3 * value:.4g}", "ms"))


def _draw(path: Path, found: list[dict[str, Any]]) -> None:
    policies = list(dict.fromkeys(one["policy"] for one in found))
    from giro.plots.style import COLOURS, STYLE  # noqa: PLC0415  # earlier versions have none

    plt.rcParams.update(STYLE)
    figure, axes = plt.subplots(
        1, len(policies), figsize=(9, 3.2), sharey=True, squeeze=False, layout="constrained"
    )
    axes = axes[0]
    looks = {"now": (COLOURS[0], "-"), "before": (COLOURS[1], "--")}
    for one in found:
        axis = axes[policies.index(one["policy"])]
        colour, line = looks[one["version"]]
        for call, width in (("decide", 1.0), ("reward", 2.0)):
            curve = one[call]
            label = f"{call}, {'0.1.0' if one['version'] == 'before' else 'now'}"
            longest = np.array(curve["longest"]) * 1e3
            axis.plot(curve["ends"], longest, line, color=colour, lw=width, label=label)
        axis.set(xscale="log", yscale="log", title=one["policy"], xlabel="number of the call")
    axes[0].set_ylabel("longest call of a stretch, ms")
    axes[-1].legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
