"""What the default costs in contexts: a decision and its reward from Python, as the past grows."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from figures import Curve, loglog
from ratio import Ratio, cost_of, say

from giro import Bandit
from giro.seeds import stream

N_ARMS = 10
BARS = {50: 300.0, 200: 1_000.0}  # microseconds on average, by features
BLOCKS = (1_000, 3_000, 10_000, 30_000, 100_000)
QUICK_BLOCKS = (300, 1_000)
UNIT = "µs per decision and reward"


def everything(folder: Path, *, quick: bool) -> Iterator[Ratio]:
    """Decide and reward on a bandit of ten arms whose rewards are no linear function."""
    blocks = QUICK_BLOCKS if quick else BLOCKS
    costs = {d: costs_of(d, blocks) for d in BARS}
    curves = [Curve(f"default, {d} features", np.array(blocks), 1e3 * costs[d]) for d in BARS]
    title = f"Bandit.decide and .reward, {N_ARMS} arms"
    loglog(folder / "default_cost", curves, x="past rewards", title=title)
    for d, bar in BARS.items():
        lengths = np.diff([0, *blocks])
        yield Ratio.at_most(
            f"default, d={d}, K={N_ARMS}: Bandit over {blocks[-1]:,} rewards against {bar:g} µs",
            ours=float(np.average(costs[d], weights=lengths)),
            theirs=bar,
            bar=1.0,
            unit=UNIT,
            note=f"the last {lengths[-1]:,}: {costs[d][-1]:.0f} µs each",
        )
    growth = np.log(blocks[-1]) / np.log(blocks[0])
    yield Ratio.at_most(
        f"default, d=50: the last block of {blocks[-1]:,} rewards against the first",
        ours=float(costs[50][-1]),
        theirs=float(costs[50][0]),
        bar=float(growth),
        unit=UNIT,
        note="the bar is how much the logarithm grows",
    )


def costs_of(d: int, blocks: tuple[int, ...]) -> np.ndarray:
    """Return the microseconds of a decision and reward, averaged between these numbers of them."""
    say(f"  d = {d}")
    rng = stream(d, 0)
    contexts = rng.normal(size=(blocks[-1], d))
    hidden = np.tanh(contexts @ rng.normal(size=(d, 2 * N_ARMS)))
    best = (hidden @ rng.normal(size=(2 * N_ARMS, N_ARMS))).argmax(axis=1)
    _play(_new_bandit(), contexts[:30], best)  # compiles
    bandit, costs = _new_bandit(), []
    for first, last in zip((0, *blocks[:-1]), blocks, strict=True):
        several = slice(first, last)
        cpu = cost_of(lambda: _play(bandit, contexts[several], best[several])).cpu  # noqa: B023
        costs.append(1e6 * cpu / (last - first))
    return np.array(costs)


def _new_bandit() -> Bandit:
    return Bandit([str(arm) for arm in range(N_ARMS)], seed=1)


def _play(bandit: Bandit, contexts: np.ndarray, best: np.ndarray) -> None:
    for context, right in zip(contexts, best, strict=False):
        decision = bandit.decide(context)
        bandit.reward(decision.id, float(decision.arm == str(right)))
