"""Play worlds with and without a switch: figure, numbers and table of docs/howto/drift.md.

`python scripts/drift.py` writes docs/pictures/drift.png and results/bandit/drift.csv, and the table
into the page.
"""

import csv
import re
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import giro
from giro.plots import save
from giro.plots.style import COLOURS, DASHES, STYLE
from giro.simulation.metrics import estimate
from giro.simulation.trace import Trace

ROOT = Path(__file__).parents[1]
CSV = ROOT / "results" / "bandit" / "drift.csv"
PICTURE = ROOT / "docs" / "pictures" / "drift.png"
PAGE = ROOT / "docs" / "howto" / "drift.md"
BETWEEN = re.compile(r"(<!-- drift:.*?-->\n).*?(<!-- end of drift -->)", re.DOTALL)

ROUNDS, SWITCH, RUNS, BLOCK = 15_000, 5_000, 200, 250
WINDOW, HALF_LIFE = "window=1000", "half_life=500"
FAMILIES = {
    "giro": ("giro:a=1", f"giro:a=1,{WINDOW}"),
    "thompson": ("thompson", f"thompson:{WINDOW}", f"thompson:{HALF_LIFE}"),
    "ucb1": ("ucb1", f"ucb1:{WINDOW}", f"ucb1:{HALF_LIFE}"),
}
SHOWN = ((5_000, 6_000), (9_000, 10_000), (14_000, 15_000))  # rounds of the table


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


def shares(trace: Trace, block: int = BLOCK) -> np.ndarray:
    """Return the share of the best arm in each block of rounds, [run, block]."""
    at = np.searchsorted(trace.checkpoints, np.arange(block, ROUNDS + 1, block))
    return np.diff(trace.best[:, at], axis=1, prepend=0) / block


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


def table(switched: Sequence[Trace], steady: Sequence[Trace]) -> str:
    """Return shares after the switch, and regret with and without one, in Markdown."""
    head = "".join(f" {low:,}–{high:,} |" for low, high in SHOWN)
    lines = [
        f"| policy |{head} regret | regret without a switch |",
        "| --- |" + " ---: |" * (len(SHOWN) + 2),
    ]
    for trace, other in zip(switched, steady, strict=True):
        blocks = shares(trace, 1_000).mean(axis=0)
        cells = [f"{blocks[low // 1_000]:.0%}" for low, _ in SHOWN]
        for each in (trace, other):
            regret = estimate(each.regret[:, -1])
            cells.append(f"{regret.mean:,.0f} ± {regret.high - regret.mean:,.0f}")
        lines.append(f"| `{trace.setting.policy}` | {' | '.join(cells)} |")
    return "\n" + "\n".join(lines) + "\n\n"


def write_csv(traces: Sequence[Trace], path: Path) -> None:
    """Write the share of the best arm in each block, with its 95 % interval over runs."""
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write("# python scripts/drift.py\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["policy", "from", "to", "share", "low", "high"])
        for trace in traces:
            for i, column in enumerate(shares(trace).T):
                share = estimate(column)
                numbers = (f"{number:.4f}" for number in (share.mean, share.low, share.high))
                writer.writerow([trace.setting.policy, i * BLOCK, (i + 1) * BLOCK, *numbers])


def main() -> None:
    """Write all three."""
    switched, steady = played(SWITCH), played(ROUNDS)
    write_csv(switched, CSV)
    save(figure(switched), PICTURE)
    text = PAGE.read_text("utf-8")
    shown = table(switched, steady)
    PAGE.write_text(BETWEEN.sub(lambda match: match[1] + shown + match[2], text), "utf-8")


if __name__ == "__main__":
    main()
