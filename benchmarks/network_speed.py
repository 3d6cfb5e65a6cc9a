"""The network against PyTorch (one thread, eager): samples per second of the same steps."""

import json
import math
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from python_libraries import HERE, Library, Trouble, environment
from ratio import Ratio, cost_of, say

from giro.datasets import load
from giro.datasets.dataset import Scale, contexts_of
from giro.kernels.giro.pseudo_rewards import ONE, REAL, draw_counts
from giro.kernels.network import entries_of
from giro.kernels.regression.rows import append_row, empty_rows, positions_of
from giro.model import Sample
from giro.models.network import Network
from giro.seeds import stream

PYTORCH = Library("PyTorch", ("torch==2.13.0",), ())
SCRIPT = HERE / "peers" / "train_torch.py"
BAR = 5.0
UNIT = "samples per second"
SCALES: dict[Scale, str] = {"column": "mostly equal to the base", "unit": "no two entries equal"}


class Training(NamedTuple):
    """What was asked of one side, and how it went."""

    speed: float
    loss: float  # mean cross-entropy over the sample at the end


def against_pytorch(*, quick: bool) -> Iterator[Ratio]:
    """Go over a bootstrap sample of a history on Covertype, a = 1: three entries a row."""
    n, passes, repeats = (1_000, 1, 1) if quick else (10_000, 3, 3)
    for scale, entries in SCALES.items():
        name = f"network, Covertype, scale={scale} ({entries}): giro against PyTorch, one thread"
        try:
            yield compare(name, history(scale, n), passes=passes, repeats=repeats)
        except Trouble as trouble:
            yield Ratio.missing(name, unit=UNIT, bar=BAR, note=str(trouble))


def compare(name: str, sample: Sample, *, passes: int, repeats: int) -> Ratio:
    """Return how many times more samples we take in, the best of repeats in which both take turns.

    Losses in the note are from different beginnings, and should be about equal.
    """
    model, ours, theirs = Network(passes=passes), [], []
    trained(Network(passes=1), sample)  # compiles
    for repeat in range(repeats):
        say(f"  {repeat + 1}/{repeats} {PYTORCH.name}")
        theirs.append(trained_by_pytorch(model, sample))
        ours.append(trained(Network(passes=30 * passes), sample))
    return Ratio.more(
        name,
        ours=max(training.speed for training in ours),
        theirs=max(training.speed for training in theirs),
        bar=BAR,
        unit=UNIT,
        note=f"after {passes} passes cross-entropy {trained(model, sample).loss:.3f}, "
        f"theirs {theirs[0].loss:.3f}",
    )


def history(scale: Scale, n: int) -> Sample:
    """Return a bootstrap sample of n rows, rewarded where they are of the commonest class."""
    data = load("covertype")
    chosen = stream(0).permutation(len(data.labels))[:n]
    contexts = contexts_of(data.features, scale)[chosen]
    contexts = np.column_stack([contexts, np.ones(n)])  # the constant that policies add
    rewards = 1.0 * (data.labels[chosen] == np.bincount(data.labels).argmax())
    rows = empty_rows(1, contexts.shape[1], n)
    for context, reward in zip(contexts, rewards, strict=True):
        append_row(rows, context, 0, reward)
    counts = np.empty((n, 3), np.int32)
    draw_counts(counts, 1.0, stream(1))
    return Sample(rows, positions_of(rows, 0), counts)


def trained(model: Network, sample: Sample) -> Training:
    """Fit our network."""
    rng = stream(2)
    state = model.start(1, sample.rows.base.size, 0, rng)
    seconds = cost_of(lambda: model.refit(state, 0, sample, rng)).cpu
    rows, targets = taken(sample)
    chances = [model.value(state, 0, sample.rows.contexts[row]) for row in rows]
    losses = (-math.log(p if y == 1.0 else 1.0 - p) for p, y in zip(chances, targets, strict=True))
    return Training(model.passes * rows.size / seconds, sum(losses) / rows.size)


def taken(sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """Return row and target of every entry of the sample."""
    entries = entries_of(sample.positions, sample.counts)
    rows, kinds = entries // 4, entries % 4
    real = np.where(kinds == REAL, sample.rows.rewards[rows], 0.0)
    return rows, np.where(kinds == ONE, 1.0, real)


def trained_by_pytorch(model: Network, sample: Sample) -> Training:
    """Have PyTorch fit its network, in a process of its own."""
    python = environment(PYTORCH)
    rows, targets = taken(sample)
    contexts = sample.rows.contexts.astype(np.float32)
    with TemporaryDirectory() as folder:
        file, told = Path(folder) / "contexts", Path(folder) / "told.json"
        contexts.tofile(file)
        order: dict[str, Any] = {"contexts": str(file), "shape": contexts.shape}
        order |= {"rows": rows.tolist(), "targets": targets.tolist(), "passes": model.passes}
        order |= {"batch": model.batch, "rate": model.rate, "hidden": model.hidden}
        told.write_text(json.dumps(order))
        answer = json.loads(_printed([python, "-W", "ignore", SCRIPT, told]))
    return Training(answer["samples_per_second"], answer["loss"])


def _printed(command: list[str | Path]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    except (OSError, subprocess.SubprocessError) as error:
        raise Trouble(f"{PYTORCH.name} does not run: {error}") from error
    return done.stdout.splitlines()[-1]
