"""Print how linear Giro compares with linear ε-greedy by stochastic gradient, on each scale.

These runs of 10,000 rounds were played on a GPU (scripts/cuda_pieces.py). Their table is written to
results/settings/sgd.csv.
"""

import sys
from pathlib import Path

from giro.paper.claims import earns_more, p_value_of
from giro.paper.studies.contextual import DATA, Setup
from giro.paper.studies.settings import ROUNDS, SCALES
from giro.simulation.kept import CUDA, FILE
from giro.simulation.trace import load_traces
from giro.tables import write_csv
from giro.version import stamp

FOLDER = Path("results/settings")


def main() -> None:
    """Compare the two on all data sets and scales."""
    traces = {
        (t.setting.policy, t.setting.problem): t
        for t in load_traces(FOLDER / FILE)
        if t.setting.version.endswith(CUDA) and t.setting.rounds == ROUNDS
    }
    lines = []
    for data in DATA:
        for setup in (Setup(scale, "sgd") for scale in SCALES):
            pair = (setup.giro("linear"), setup.greedy("linear"))
            giro, greedy = (traces[policy, setup.problem(data)] for policy in pair)
            gain = earns_more(giro, greedy)
            lines.append(
                {
                    "data": data,
                    "scale": setup.scale,
                    "runs": gain.runs,
                    "gain": round(gain.gain.mean, 4),
                    "se": round(gain.gain.se, 4),
                    "p_value": float(f"{p_value_of(gain.gain, gain.runs):.2g}"),
                }
            )
            sys.stdout.write(" ".join(f"{value:>10}" for value in lines[-1].values()) + "\n")
    write_csv(FOLDER / "sgd.csv", lines, note=str(stamp("python scripts/sgd_claims.py")))


if __name__ == "__main__":
    main()
