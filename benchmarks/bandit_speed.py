"""`giro.Bandit` from Python: deciding and being rewarded, against other libraries and over time."""

import random
from collections.abc import Iterator
from pathlib import Path

import contextual_peers
import numpy as np
from contextual_peers import N_ARMS, N_FEATURES
from figures import Curve, keep_curves
from peers.contextual_loop import Peer, drawn, play
from python_libraries import LIBRARIES, MEANS, Library, Trouble, environment, played_by
from ratio import Ratio, cost_of, say

from giro import Bandit

UNIT = "µs per decision"
# library, policy, and how many times the library's time we may take
BARS = (("river", "ucb1", 3.0), ("MABWiser", "thompson", 1.0), ("SMPyBandits", "thompson", 1.0))
IN_CONTEXT = "giro-ensemble"
MABWISER, CONTEXTUALBANDITS = contextual_peers.LIBRARIES
BAYESIANBANDITS = contextual_peers.Library("bayesianbandits", ("bayesianbandits==1.5.0",))
CONTEXTUAL_BARS = (  # library, and its policies that should take as long as ours or longer
    (CONTEXTUALBANDITS, ("lin-ucb:scale=1", "bootstrap")),
    (MABWISER, contextual_peers.POLICIES),
    (BAYESIANBANDITS, contextual_peers.POLICIES),
)
GROWING = ("ucb1", "thompson", "giro:a=1")
BLOCKS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
QUICK_BLOCKS = (1_000, 3_000)
BLOCK = 200  # decisions timed after each of these numbers of rewards
GROWTH_BAR = 2.0


def everything(folder: Path, *, quick: bool) -> Iterator[Ratio]:
    """Decide and reward on a bandit of ten arms; cost against the number of past rewards."""
    rounds, repeats = (1_000, 1) if quick else (10_000, 3)
    for name, policy, bar in BARS:
        library = next(one for one in LIBRARIES if one.name == name)
        yield _against(library, policy, bar, rounds=rounds, repeats=repeats)
    for peer, policies in CONTEXTUAL_BARS:
        yield from _against_in_context(peer, policies, rounds=rounds // 10, repeats=repeats)
    yield from cost_of_the_past(folder, quick=quick)


def _against(library: Library, policy: str, bar: float, *, rounds: int, repeats: int) -> Ratio:
    """Return how many times their time we need for a decision and its reward."""
    what = f"{policy}, K={len(MEANS)}: Bandit.decide and .reward against {library.name}"
    try:
        python = environment(library)
        ours, theirs = [], []
        for repeat in range(repeats):
            say(f"  {repeat + 1}/{repeats} {library.name}")
            speed = played_by(library, python, rounds)[policy]["rounds_per_second"]
            theirs.append(1e6 / speed)
            ours.append(microseconds(_played(policy, 100), rounds))
    except Trouble as trouble:
        return Ratio.missing(what, unit=UNIT, bar=bar, note=str(trouble))
    note = "ours logs every event and its time"
    return Ratio.at_most(what, ours=min(ours), theirs=min(theirs), bar=bar, unit=UNIT, note=note)


def _against_in_context(
    library: contextual_peers.Library, policies: tuple[str, ...], *, rounds: int, repeats: int
) -> Iterator[Ratio]:
    """Compare a decision in a context and its reward with each of the library's policies."""
    what = f"{IN_CONTEXT}, d={N_FEATURES}, K={N_ARMS}: Bandit against {library.name}'s"
    try:
        python = environment(library)
        ours, theirs = [], []
        for repeat in range(repeats):
            say(f"  {repeat + 1}/{repeats} {library.name}")
            theirs.append(contextual_peers.played_by(library, python, policies, rounds))
            ours.append(_played_in_context(rounds))
    except Trouble as trouble:
        yield Ratio.missing(what, unit=UNIT, bar=1.0, note=str(trouble))
        return
    for policy in policies:
        played = [answer[policy] for answer in theirs]
        regret, their_regret = (np.mean([one["regret"] for one in many]) for many in (ours, played))
        yield Ratio.at_most(
            f"{what} {policy.split(':')[0]}",
            ours=min(1e6 / one["rounds_per_second"] for one in ours),
            theirs=min(1e6 / one["rounds_per_second"] for one in played),
            bar=1.0,
            unit=UNIT,
            note=f"regret {regret:.0f}, theirs {their_regret:.0f} in {rounds:,} rounds",
        )


def _played_in_context(rounds: int) -> dict[str, float]:
    """Return our rounds per second and regret in the loop of the peers, with all compiled."""
    play(_peer(), drawn(N_ARMS, N_FEATURES, 20))
    return play(_peer(), drawn(N_ARMS, N_FEATURES, rounds))


def _peer() -> Peer:
    """Return a new bandit in the words of the loop."""
    bandit = Bandit([str(arm) for arm in range(N_ARMS)], IN_CONTEXT, seed=1)
    asked = []

    def choose(context: np.ndarray) -> int:
        asked.append(bandit.decide(context[0, :-1]))
        return int(asked[-1].arm)

    return Peer(choose, lambda context, arm, reward: bandit.reward(asked[-1].id, reward))


def _played(policy: str, rounds: int) -> Bandit:
    """Return a bandit after so many decisions and rewards, with everything compiled."""
    bandit = Bandit([str(arm) for arm in range(len(MEANS))], policy, seed=1)
    microseconds(bandit, rounds)
    return bandit


def microseconds(bandit: Bandit, rounds: int) -> float:
    """Return the processor time of a decision and its reward, in microseconds."""

    def work() -> None:
        for _ in range(rounds):
            decision = bandit.decide()
            bandit.reward(decision.id, random.random() < MEANS[int(decision.arm)])

    return 1e6 * cost_of(work).cpu / rounds


def cost_of_the_past(folder: Path, *, quick: bool) -> Iterator[Ratio]:
    """Compare a decision after few and after many rewards; keeps all numbers."""
    blocks, repeats = (QUICK_BLOCKS, 1) if quick else (BLOCKS, 5)
    curves = [
        Curve(policy, np.array(blocks), _costs(policy, blocks, repeats)) for policy in GROWING
    ]
    keep_curves(folder / "bandit_cost", curves, x="past rewards")
    for curve in curves:
        yield Ratio.at_most(
            f"{curve.label}: Bandit after {blocks[-1]:,} rewards against after {blocks[0]:,}",
            ours=float(curve.ns[-1]) / 1e3,
            theirs=float(curve.ns[0]) / 1e3,
            bar=GROWTH_BAR,
            unit=UNIT,
        )


def _costs(policy: str, blocks: tuple[int, ...], repeats: int) -> np.ndarray:
    """Return nanoseconds of a decision and its reward after so many rewards, the least of some."""
    bandit, costs = _played(policy, 100), []
    for block in blocks:
        say(f"  {policy} after {block:,}")
        microseconds(bandit, max(1, block - bandit.n_rewards))
        costs.append(min(1e3 * microseconds(bandit, BLOCK) for _ in range(repeats)))
    return np.array(costs)
