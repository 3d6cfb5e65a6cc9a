"""Draw the figures of docs/explained.md, with giro's own functions.

`python scripts/explained_figures.py` writes them into docs/pictures/.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import giro
from giro.model import value
from giro.offer import NO_CONTEXT, Case, Shape, offer_of
from giro.paper.theory.choice_probabilities import giro_probabilities
from giro.paper.theory.terms import log_binomial
from giro.plots import regret_figure, save
from giro.plots.style import COLOURS, DASHES, STYLE
from giro.policies.contextual_giro import ContextualGiro
from giro.policy import choose, learn, start
from giro.seeds import stream
from giro.simulation.trace import Trace

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
BLUE, ORANGE, GREY = COLOURS[0], COLOURS[1], "0.45"
GOOD, BAD = 0.7, 0.4  # means of two arms

styled = mpl.rc_context({**STYLE, "legend.fontsize": 8, "legend.frameon": False})


@styled
def stuck() -> Figure:
    """Return single runs of bootstrapping, of which some never find out, and of Giro."""
    figure = Figure(figsize=(7, 2.7), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for panel, policy in zip(panels, ("bootstrap", "giro:a=1"), strict=True):
        problem = f"bernoulli:means=[{GOOD},{BAD}]"
        n_stuck = _single_runs(panel, giro.simulate(policy, problem, rounds=500, runs=30, seed=1))
        panel.set(title=f"{policy}: {n_stuck} of 30 runs stuck", xlabel="round")
        panel.set(xlim=(0, 500), ylim=(0, 152))
    panels[0].set_ylabel("regret of each run")
    return figure


def _single_runs(panel: Axes, trace: Trace) -> int:
    """Draw the regret of each run; return how many chose the worse arm more often than not."""
    is_stuck = trace.regret[:, -1] > 0.5 * (GOOD - BAD) * trace.setting.rounds
    for regret, stuck in zip(trace.regret, is_stuck, strict=True):
        panel.plot(trace.checkpoints, regret, color=ORANGE if stuck else BLUE, linewidth=0.8)
    return int(is_stuck.sum())


@styled
def optimism() -> Figure:
    """Return how the bootstrap mean varies after zeros only, with and without pseudo rewards."""
    figure = Figure(figsize=(7, 2.5), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    for panel, s in zip(panels, (1, 4, 16), strict=True):
        _law(panel, *bootstrap_mean_law(s, ones=0, a=0), color=ORANGE, label="history alone")
        _law(panel, *bootstrap_mean_law(s, ones=0, a=1), color=BLUE, label="with a = 1")
        panel.axvline((BAD + 1) / 3, color=GREY, linestyle=":")
        rewards = "one reward, a 0" if s == 1 else f"{s} rewards, all 0"
        panel.set(title=rewards, xlabel="bootstrap mean", xlim=(-0.06, 1.06), ylim=(0, 1.05))
    panels[0].set_ylabel("probability")
    panels[1].text((BAD + 1) / 3 + 0.03, 0.7, "centre of an arm\nof mean 0.4", color=GREY)
    lines, labels = panels[0].get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside lower center", ncols=2)
    return figure


@styled
def two_arms() -> Figure:
    """Return the distributions of two arms' bootstrap means as rewards come in."""
    figure = Figure(figsize=(7, 2.5), layout="constrained")
    panels = figure.subplots(1, 3)
    for panel, s in zip(panels, (10, 50, 250), strict=True):
        ones = [round(mean * s) for mean in (GOOD, BAD)]
        for i, (mean, n) in enumerate(zip((GOOD, BAD), ones, strict=True)):
            values, probabilities = bootstrap_mean_law(s, ones=n, a=1)
            look = {"color": COLOURS[i], "linestyle": DASHES[i]}
            panel.plot(values, probabilities, label=f"mean {mean}", **look)
        worse = giro_probabilities(1)([s, s], ones)[1]
        chance = f"{worse:.1%}" if worse >= 0.0005 else "below 0.05%"
        panel.set(title=f"{s} pulls each\nworse arm chosen: {chance}", xlabel="bootstrap mean")
        panel.set(xlim=(0.1, 0.9), ylim=(0, None), yticks=[])
    panels[0].set_ylabel("probability")
    panels[2].legend(loc="upper left")
    return figure


def regret() -> Figure:
    """Return the regret of bootstrapping, of Giro and of two other policies."""
    policies = ("giro:a=1", "giro:a=1/3", "ucb1", "thompson", "bootstrap")
    problems = ("bernoulli", f"bernoulli:means=[{GOOD},{BAD}]")
    return regret_figure(
        [giro.simulate(p, at, rounds=3000, runs=50, seed=1) for at in problems for p in policies]
    )


@styled
def contexts() -> Figure:
    """Return lines fitted to resampled histories of two arms, for few and for many rewards."""
    figure = Figure(figsize=(7, 2.9), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for panel, rounds in zip(panels, (20, 400), strict=True):
        _fitted_lines(panel, rounds)
        panel.set(title=f"after {rounds} rewards", xlabel="context x", xlim=(-1, 1))
        panel.set(ylim=(-0.05, 1.05))
    panels[0].set_ylabel("expected reward, as fitted")
    return figure


def _fitted_lines(panel: Axes, rounds: int) -> None:
    """Let contextual Giro learn from both arms in turn, and draw the models of 15 choices."""
    policy, rng, x = ContextualGiro(a=1.0), stream(1), np.linspace(-1, 1, 3)
    state = start(policy, Shape(2, 1, 0, rounds, rounds), rng)
    for t in range(rounds):
        at, arm = rng.uniform(-1, 1), t % 2
        reward = float(rng.random() < 0.5 + (0.4 * at if arm == 0 else -0.4 * at))
        learn(state, Case(np.array([at]), NO_CONTEXT), arm, reward, rng)
        panel.plot(at, reward + 0.02 * arm, "|", color=COLOURS[arm], markersize=5, alpha=0.5)
    for _ in range(15):
        choose(state, offer_of(2, np.zeros(1)), rng)
        for arm in (0, 1):
            fitted = [value(state.model, arm, np.array([at, 1.0])) for at in x]
            look = {"color": COLOURS[arm], "linestyle": DASHES[arm]}
            panel.plot(x, fitted, linewidth=0.7, **look)


def bootstrap_mean_law(s: int, *, ones: int, a: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of a bootstrap mean of s rewards with so many ones, and how likely each is.

    The history has `a` pseudo rewards of each kind per reward; its sample, of the same length, then
    has a binomial number of ones (Kveton et al., 2019, Section 4.2).
    """
    length = s * (2 * a + 1)
    counts = np.arange(length + 1)
    return counts / length, np.exp(log_binomial(counts, length, (ones + a * s) / length))


def _law(
    panel: Axes, values: np.ndarray, probabilities: np.ndarray, *, color: str, label: str
) -> None:
    panel.vlines(values, 0, probabilities, color=color, linewidth=2.5, label=label)


FIGURES: dict[str, Callable[[], Figure]] = {
    "explained-1-stuck": stuck,
    "explained-2-optimism": optimism,
    "explained-3-two-arms": two_arms,
    "explained-4-regret": regret,
    "explained-5-contexts": contexts,
}


def draw(folder: Path) -> None:
    """Write all figures into a folder."""
    for name, figure in FIGURES.items():
        save(figure(), folder / f"{name}.png")


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES)
