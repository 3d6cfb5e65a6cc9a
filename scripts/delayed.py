"""Play policies whose rewards come late: figure and numbers of docs/production.md.

`python scripts/delayed.py` writes docs/pictures/delayed.png and results/bandit/delayed.csv, from
which `python scripts/tables.py` writes the table of the page.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

import giro
from giro.plots import save
from giro.plots.style import COLOURS, DASHES, STYLE
from giro.simulation.metrics import final_regret
from giro.tables import Record, write_csv
from giro.version import stamp

ROOT = Path(__file__).parents[1]
CSV = ROOT / "results" / "bandit" / "delayed.csv"
PICTURE = ROOT / "docs" / "pictures" / "delayed.png"

ROUNDS, RUNS = 20_000, 40
LAGS = (1, 10, 100, 1_000, 10_000)
DELAYS = {"fixed": "after exactly this", "random": "after this on average", "batch": "in batches"}
POLICIES = ("giro:a=1", "thompson", "maillard", "sda:block=random", "imed", "ucb1")


def records(runs: int = RUNS) -> Iterator[Record]:
    """Yield the regret of each policy for each delay and lag, and without any."""
    for policy in POLICIES:
        for delay in DELAYS:
            for lag in LAGS:
                problem = f"delayed:problem=bernoulli,lag={lag},delay={delay}"
                yield record(policy, problem, delay, lag, runs)
        yield record(policy, "bernoulli", "none", 0, runs)


def record(policy: str, problem: str, delay: str, lag: int, runs: int) -> Record:
    """Return the regret at the end."""
    trace = giro.simulate(policy, problem, rounds=ROUNDS, runs=runs, seed=1, points=2)
    regret = final_regret(trace)
    return {
        "policy": policy,
        "delay": delay,
        "lag": lag,
        "runs": runs,
        "regret": regret.mean,
        "regret_half": regret.margin,
    }


def figure(rows: Sequence[Record]) -> Figure:
    """Return a panel for each kind of delay: regret against the lag."""
    with mpl.rc_context({**STYLE, "legend.frameon": False}):
        drawn = Figure(figsize=(7.5, 2.9), layout="constrained")
        panels = drawn.subplots(1, len(DELAYS), sharey=True)
        for panel, (delay, title) in zip(panels, DELAYS.items(), strict=True):
            for i, policy in enumerate(POLICIES):
                mine = [row for row in rows if row["policy"] == policy]
                steady = next(row["regret"] for row in mine if row["delay"] == "none")
                regrets = [row["regret"] for row in mine if row["delay"] == delay]
                look = {"color": COLOURS[i], "linestyle": DASHES[i]}
                panel.plot(LAGS, regrets, label=policy, **look)
                panel.axhline(steady, color=COLOURS[i], linewidth=0.5, alpha=0.5)
            panel.set(title=title, xlabel="rounds of delay", xscale="log", yscale="log")
        panels[0].set_ylabel(f"regret, {ROUNDS:,} rounds")
        lines, labels = panels[0].get_legend_handles_labels()
        drawn.legend(lines, labels, loc="outside lower center", ncols=6)
    return drawn


def main() -> None:
    """Play, and write the numbers and the figure."""
    rows = list(records())
    note = str(stamp("python scripts/delayed.py"))
    write_csv(CSV, rows, note=note)
    save(figure(rows), PICTURE, note=note)


if __name__ == "__main__":
    main()
