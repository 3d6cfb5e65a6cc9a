"""Play worlds with and without a switch: figure and numbers of docs/howto/drift.md.

`python scripts/drift.py` writes docs/pictures/drift.png, and results/bandit/drift.csv and
drift-regret.csv, from which `python scripts/tables.py` writes the table of the page.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import giro
from giro.plots import save
from giro.plots.style import COLOURS, DASHES, STYLE
from giro.simulation.metrics import estimate
from giro.simulation.trace import Trace
from giro.tables import Record, write_csv
from giro.version import stamp

ROOT = Path(__file__).parents[1]
CSV = ROOT / "results" / "bandit" / "drift.csv"
PICTURE = ROOT / "docs" / "pictures" / "drift.png"

ROUNDS, SWITCH, RUNS, BLOCK = 15_000, 5_000, 200, 250
WINDOW, HALF_LIFE = "window=1000", "half_life=500"
FAMILIES = {
    "giro": ("giro:a=1", f"giro:a=1,{WINDOW}"),
    "thompson": ("thompson", f"thompson:{WINDOW}", f"thompson:{HALF_LIFE}"),
    "ucb1": ("ucb1", f"ucb1:{WINDOW}", f"ucb1:{HALF_LIFE}"),
}


def world(switch: int) -> str:
    """Return arms of means 0.6 and 0.4, of which the first falls to 0.2."""
    before, after = "bernoulli:means=[0.6,0.4]", "bernoulli:means=[0.2,0.4]"
    return f"switching:first=[{before}],second=[{after}],at={switch}"


def played(switch: int, runs: int = RUNS) -> list[Trace]:
    """Return traces of all policies with a checkpoint at the end of each block of rounds."""
    return [
        giro.simulate(
            policy, world(switch), rounds=ROUNDS, runs=runs, seed=1, points=ROUNDS // BLOCK
        )
        for policies in FAMILIES.values()
        for policy in policies
    ]


def shares(trace: Trace) -> np.ndarray:
    """Return the share of the best arm in each block of rounds, [run, block]."""
    at = np.searchsorted(trace.checkpoints, np.arange(BLOCK, ROUNDS + 1, BLOCK))
    return np.diff(trace.best[:, at], axis=1, prepend=0) / BLOCK


def figure(traces: Sequence[Trace]) -> Figure:
    """Return a panel for each family: how often the best arm is chosen, round by round."""
    of, middle = {trace.setting.policy: trace for trace in traces}, np.arange(0, ROUNDS, BLOCK)
    with mpl.rc_context({**STYLE, "legend.frameon": False}):
        drawn = Figure(figsize=(7.5, 2.9), layout="constrained")
        panels = drawn.subplots(1, len(FAMILIES), sharey=True)
        for panel, (family, policies) in zip(panels, FAMILIES.items(), strict=True):
            for i, policy in enumerate(policies):
                label = ("every reward counts", WINDOW, HALF_LIFE)[i]
                share = shares(of[policy]).mean(axis=0)
                look = {"color": COLOURS[i], "linestyle": DASHES[i]}
                panel.plot(middle + BLOCK / 2, share, label=label, **look)
            panel.axvline(SWITCH, color="0.5", linewidth=0.8)
            panel.set(title=family, xlabel="thousand rounds", xlim=(0, ROUNDS), ylim=(0, 1.02))
            panel.set_xticks([0, 5_000, 10_000, 15_000], ["0", "5", "10", "15"])
        panels[0].set_ylabel("share of the best arm")
        lines, labels = panels[1].get_legend_handles_labels()
        drawn.legend(lines, labels, loc="outside lower center", ncols=3)
    return drawn


def share_records(traces: Sequence[Trace]) -> Iterator[Record]:
    """Yield the share of the best arm in each block, with its 95 % interval over runs."""
    for trace in traces:
        for i, column in enumerate(shares(trace).T):
            share = estimate(column)
            numbers = {"share": share.mean, "low": share.low, "high": share.high}
            yield {"policy": trace.setting.policy, "from": i * BLOCK, "to": (i + 1) * BLOCK} | {
                name: f"{number:.4f}" for name, number in numbers.items()
            }


def regret_records(switched: Sequence[Trace], steady: Sequence[Trace]) -> Iterator[Record]:
    """Yield regret with and without a switch, and half the width of its 95 % interval."""
    for pair in zip(switched, steady, strict=True):
        record: dict[str, object] = {"policy": pair[0].setting.policy}
        for name, trace in zip(("switch", "steady"), pair, strict=True):
            regret = estimate(trace.regret[:, -1])
            record |= {name: regret.mean, f"{name}_half": regret.high - regret.mean}
        yield record


def main() -> None:
    """Write both files and the picture."""
    switched, steady = played(SWITCH), played(ROUNDS)
    note = str(stamp("python scripts/drift.py"))
    write_csv(CSV, list(share_records(switched)), note=note)
    regrets = list(regret_records(switched, steady))
    write_csv(CSV.with_name("drift-regret.csv"), regrets, note=note)
    save(figure(switched), PICTURE)


if __name__ == "__main__":
    main()
