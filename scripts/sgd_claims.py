"""Print how linear Giro compares with linear ε-greedy by stochastic gradient, on each scale.

These runs were played on a GPU (scripts/cuda_pieces.py): 10,000 rounds on all scales, and the
paper's 50,000 where contexts have unit length or columns are in [0, 1]. With standardised columns
steps are too long and fits take several hundred passes: `scripts/cuda_sgd.py` predicts 3 to 8 hours
of a GPU for 50,000 rounds there. The table is written to results/settings/sgd.csv.
"""

import sys
from pathlib import Path

from giro.paper.claims import earns_more, earns_the_same, p_value_of
from giro.paper.studies.contextual import COMPARABLE, DATA, Setup
from giro.paper.studies.settings import ROUNDS, SCALES
from giro.simulation.kept import CUDA, FILE
from giro.simulation.trace import load_traces
from giro.tables import write_csv
from giro.version import stamp

FOLDER = Path("results/settings")
LONG = 50_000


def main() -> None:
    """Compare the two on all data sets and scales."""
    traces = {
        (t.setting.policy, t.setting.problem, t.setting.rounds): t
        for t in load_traces(FOLDER / FILE)
        if t.setting.version.endswith(CUDA)
    }
    lines = []
    wanted = [(data, scale, ROUNDS) for data in DATA for scale in SCALES]
    wanted += [(data, scale, LONG) for data in DATA for scale in ("unit", "range")]
    for data, scale, rounds in wanted:
        setup = Setup(scale, "sgd")
        giro = traces[setup.giro("linear"), setup.problem(data), rounds]
        greedy = traces[setup.greedy("linear"), setup.problem(data), rounds]
        gain, same = earns_more(giro, greedy), earns_the_same(giro, greedy, margin=COMPARABLE)
        lines.append(
            {
                "data": data,
                "scale": scale,
                "rounds": rounds,
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
