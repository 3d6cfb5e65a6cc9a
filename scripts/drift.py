"""Play worlds that switch, drift or stay: figures and numbers of docs/howto/drift.md.

`python scripts/drift.py` writes docs/pictures/drift.png and drift-contexts.png, and under
results/bandit drift.csv, drift-contexts.csv and drift-half-lives.csv, from which
`python scripts/tables.py` writes the tables of the page. `... plain` and `... contexts` write what
has no contexts, or what has them.
"""

import sys
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

CONTEXT_RUNS, CONTEXT_ROUNDS, CONTEXT_BLOCK = 10, 8_000, 500
ARMS = "linear:n_arms=5,dimension=5"  # with other parameters in each place
WORLDS = {
    "switch": f"switching:first=[{ARMS}],second=[{ARMS}],at={CONTEXT_ROUNDS // 2}",
    "drift": "news:n_arms=200,on_offer=10,topics=5,kinds=3,drift=0.2",
    "steady": f"switching:first=[{ARMS}],second=[{ARMS}],at={CONTEXT_ROUNDS}",
}
IN_CONTEXT = (
    "default",
    "rand-ucb",
    "lin-ucb:scale=0.3",
    "giro-ensemble",
    "giro-ensemble:model=hashed",
    "squarecb",
    "epsilon-greedy:epsilon=0.05,model=linear",
)
HALF_LIVES = (100, 200, 500, 1_000, 2_000, 5_000)


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


def records(switched: Sequence[Trace], steady: Sequence[Trace]) -> Iterator[Record]:
    """Yield the share of the best arm in each block, and regret with and without a switch.

    Shares have their 95 % interval over runs, regrets half its width.
    """
    for pair in zip(switched, steady, strict=True):
        whole: dict[str, object] = {}
        for name, trace in zip(("switch", "steady"), pair, strict=True):
            regret = estimate(trace.regret[:, -1])
            whole |= {name: regret.mean, f"{name}_half": regret.high - regret.mean}
        for i, column in enumerate(shares(pair[0]).T):
            share = estimate(column)
            numbers = {"share": share.mean, "low": share.low, "high": share.high}
            block = {"policy": pair[0].setting.policy, "from": i * BLOCK, "to": (i + 1) * BLOCK}
            yield block | {name: f"{number:.4f}" for name, number in numbers.items()} | whole


# -- with contexts -------------------------------------------------------------------------------


def forgetting(policy: str) -> str:
    """Return the policy with a half-life."""
    return f"{policy}{',' if ':' in policy else ':'}{HALF_LIFE}"


def in_context(world: str, runs: int = CONTEXT_RUNS) -> Iterator[tuple[str, bool, np.ndarray]]:
    """Yield policy, whether it forgets, and regret per round in each block, [run, block]."""
    rounds, blocks = CONTEXT_ROUNDS, CONTEXT_ROUNDS // CONTEXT_BLOCK
    for policy in IN_CONTEXT:
        for text in (policy, forgetting(policy)):
            trace = giro.simulate(
                text, WORLDS[world], rounds=rounds, runs=runs, seed=1, points=blocks
            )
            at = np.searchsorted(trace.checkpoints, CONTEXT_BLOCK * np.arange(1, blocks + 1))
            regret = np.diff(trace.regret[:, at], axis=1, prepend=0) / CONTEXT_BLOCK
            yield policy, text != policy, regret


def context_records() -> Iterator[Record]:
    """Yield the regret per round in each block, and half the width of its 95 % interval."""
    for world in WORLDS:
        for policy, forgets, regret in in_context(world):
            total = estimate(regret.sum(axis=1) * CONTEXT_BLOCK)
            whole = {"regret": f"{total.mean:.2f}", "half": f"{total.high - total.mean:.2f}"}
            for i, mean in enumerate(regret.mean(axis=0)):
                block = {"from": i * CONTEXT_BLOCK, "per_round": f"{mean:.5f}"}
                yield {"world": world, "policy": policy, "forgets": int(forgets)} | block | whole


def half_life_records() -> Iterator[Record]:
    """Yield the regret of one policy with several half-lives, with half its 95 % interval."""
    for world, problem in WORLDS.items():
        for half_life in HALF_LIVES:
            policy = f"rand-ucb:half_life={half_life}"
            trace = giro.simulate(
                policy, problem, rounds=CONTEXT_ROUNDS, runs=CONTEXT_RUNS, seed=1, points=2
            )
            regret = estimate(trace.regret[:, -1])
            numbers = {"regret": regret.mean, "half": regret.high - regret.mean}
            yield {"world": world, "half_life": half_life} | {
                name: f"{number:.2f}" for name, number in numbers.items()
            }


def context_figure(records: Sequence[Record]) -> Figure:
    """Return a row of panels for each world: regret per round, with and without forgetting."""
    with mpl.rc_context({**STYLE, "legend.frameon": False}):
        drawn = Figure(figsize=(10.5, 4.6), layout="constrained")
        panels = drawn.subplots(2, len(IN_CONTEXT), sharex=True, sharey="row")
        for row, world in zip(panels, ("switch", "drift"), strict=True):
            for panel, policy in zip(row, IN_CONTEXT, strict=True):
                for forgets, label in enumerate(("every reward counts", HALF_LIFE)):
                    mine = [
                        record
                        for record in records
                        if (record["world"], record["policy"]) == (world, policy)
                        and record["forgets"] == forgets
                    ]
                    x = [int(str(record["from"])) + CONTEXT_BLOCK / 2 for record in mine]
                    y = [float(str(record["per_round"])) for record in mine]
                    panel.plot(
                        x, y, label=label, color=COLOURS[2 * forgets], linestyle=DASHES[2 * forgets]
                    )
                panel.set(xlim=(0, CONTEXT_ROUNDS))
                panel.set_xticks([0, 4_000, 8_000], ["0", "4", "8"])
                if world == "switch":
                    name, _, more = policy.partition(":")
                    panel.set_title(f"{name}\n{more.rpartition(',')[2]}", fontsize="small")
            row[0].set(ylabel=f"{world}: regret per round", ylim=(0, None))
        drawn.supxlabel("thousand rounds", fontsize="small")
        lines, labels = panels[0, 0].get_legend_handles_labels()
        drawn.legend(lines, labels, loc="outside lower right", ncols=2)
    return drawn


def main(what: Sequence[str]) -> None:
    """Write the files and pictures."""
    if "contexts" not in what:
        write_plain()
    if "plain" not in what:
        found = list(context_records())
        note = str(stamp("python scripts/drift.py"))
        write_csv(CSV.with_name("drift-contexts.csv"), found, note=note)
        lives = list(half_life_records())
        write_csv(CSV.with_name("drift-half-lives.csv"), lives, note=note)
        save(context_figure(found), PICTURE.with_name("drift-contexts.png"))


def write_plain() -> None:
    """Write the files and the picture of worlds without contexts."""
    switched, steady = played(SWITCH), played(ROUNDS)
    note = str(stamp("python scripts/drift.py"))
    write_csv(CSV, list(records(switched, steady)), note=note)
    save(figure(switched), PICTURE)


if __name__ == "__main__":
    main(sys.argv[1:])
