"""Print how linear Giro compares with linear ε-greedy by stochastic gradient, on each scale.

These runs were played on a GPU (scripts/cuda_pieces.py): 10,000 rounds on all scales, and longer
ones on two. Of the longer ones Giro's were cut off. They are compared with the same rounds of
ε-greedy, whose exploration falls as in the planned rounds. The table is written to
results/settings/sgd.csv.
"""

import dataclasses
import sys
from pathlib import Path

import numpy as np

from giro.paper.claims import earns_more, earns_the_same, p_value_of
from giro.paper.studies.contextual import COMPARABLE, DATA, Setup
from giro.paper.studies.settings import ROUNDS, SCALES
from giro.simulation.kept import CUDA, FILE
from giro.simulation.trace import Trace, load_traces
from giro.tables import write_csv
from giro.version import stamp

FOLDER = Path("results/settings")
LONGER = {"adult": (39_500, 50_000), "covertype": (16_000, 25_000), "statlog": (15_500, 25_000)}


def cut(trace: Trace, rounds: int) -> Trace:
    """Return the first rounds of a trace, as if there had been no others."""
    n = int(np.searchsorted(trace.checkpoints, rounds)) + 1
    if trace.checkpoints[n - 1] != rounds:
        raise ValueError(f"{trace} has no curve up to round {rounds}")
    setting = dataclasses.replace(trace.setting, rounds=rounds)
    curves = {name: getattr(trace, name)[:, :n] for name in ("regret", "reward", "best")}
    return dataclasses.replace(trace, setting=setting, **curves)


def main() -> None:
    """Compare the two on all data sets and scales."""
    traces = {
        (t.setting.policy, t.setting.problem, t.setting.rounds): t
        for t in load_traces(FOLDER / FILE)
        if t.setting.version.endswith(CUDA)
    }
    lines = []
    wanted = [(data, scale, ROUNDS, ROUNDS) for data in DATA for scale in SCALES]
    wanted += [(data, scale, *LONGER[data]) for data in DATA for scale in ("unit", "range")]
    for data, scale, rounds, planned in wanted:
        setup = Setup(scale, "sgd")
        giro = traces[setup.giro("linear"), setup.problem(data), rounds]
        greedy = cut(traces[setup.greedy("linear"), setup.problem(data), planned], rounds)
        gain, same = earns_more(giro, greedy), earns_the_same(giro, greedy, margin=COMPARABLE)
        lines.append(
            {
                "data": data,
                "scale": scale,
                "rounds": rounds,
                "planned": planned,
                "runs": gain.runs,
                "gain": round(gain.gain.mean, 4),
                "se": round(gain.gain.se, 4),
                "p_value": float(f"{p_value_of(gain.gain, gain.runs):.2g}"),
                "within": round(same.gain.mean, 4),
                "within_low": round(same.gain.low, 4),
                "within_high": round(same.gain.high, 4),
            }
        )
        sys.stdout.write(" ".join(f"{value:>10}" for value in lines[-1].values()) + "\n")
    write_csv(FOLDER / "sgd.csv", lines, note=str(stamp("python scripts/sgd_claims.py")))


if __name__ == "__main__":
    main()
