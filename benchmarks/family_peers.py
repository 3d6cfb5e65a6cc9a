"""The family against public code of authors and others, run aside, by a test of the same regret.

    python benchmarks/family_peers.py FOLDER [--only WORD ...]

FOLDER holds a checkout of each repository in `CODE`, at the commit named there, under the last part
of its name. Nothing of it is copied. It runs in an environment of its own.

Each public policy plays a problem, and so does giro's, in runs that share nothing. A two-sample
test (Welch) compares the mean regrets. That the test notices a mistake is shown by the same public
policy with one constant changed. A line for each is written to results/family/peers.csv as it ends.
Regrets of public code are kept in .benchmarks/family, and are not computed again.
"""

import argparse
import csv
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from python_libraries import Library, Trouble, environment, printed
from ratio import cost_of, say
from scipy import stats

from giro import simulate
from giro.simulation.trace import Trace
from giro.tables import write_csv
from giro.version import stamp

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "family" / "peers.csv"
KEPT = ROOT / ".benchmarks" / "family"
THEIRS = Library(
    "family",
    (
        "numpy==2.4.6",
        "numba==0.68.1",
        "scipy==1.17.1",
        "bottleneck>=1.6",
        "tqdm>=4.67",
    ),
)
PATIENCE, OUR_RUNS, SEED = 7_200.0, 2_000, 300
FEW = 5  # runs that show what a round costs

SDA = "DBaudry/Sub-Sampling-Dueling-Algorithms-Neurips20@c362488"
KLMS = "MjolnirT/Kullback-Leibler-Maillard-Sampling@817f4d3"
LOGISTIC = "criteo-research/logistic_bandit@d5e8aa2"
BERNOULLI = "bernoulli:means=[0.6,0.5,0.4,0.3]"
BETA = "beta:v=4,means=[0.6,0.5,0.4,0.3]"
SHARED = "logistic:n_arms=10,dimension=4,strength=1,shared=true"


class Pair(NamedTuple):
    """A public policy and giro's, on a problem."""

    code: str  # repository and commit
    theirs: str  # a name of `benchmarks/peers/family.py`
    ours: str
    problem: str
    wrong: str  # the constant that is changed
    rounds: int = 1_000
    runs: int = 300


PAIRS = (
    Pair(SDA, "RB_SDA", "sda:block=random", BERNOULLI, "16 √(log r) forced"),
    Pair(SDA, "RB_SDA", "sda:block=random", BETA, "16 √(log r) forced"),
    Pair(SDA, "WR_SDA", "sda:block=sample", BERNOULLI, "16 √(log r) forced"),
    Pair(SDA, "WR_SDA", "sda:block=sample", BETA, "16 √(log r) forced"),
    Pair(SDA, "LB_SDA", "sda:block=last", BERNOULLI, "16 √(log r) forced"),
    Pair(SDA, "LB_SDA", "sda:block=last", BETA, "16 √(log r) forced"),
    Pair(SDA, "SSMC", "sda:block=worst", BERNOULLI, "16 √(log r) forced"),
    Pair(SDA, "SSMC", "sda:block=worst", BETA, "16 √(log r) forced"),
    Pair(SDA, "non_parametric_TS", "npts", BERNOULLI, "first reward 2", 300, 60),
    Pair(SDA, "non_parametric_TS", "npts", BETA, "first reward 2", 300, 60),
    Pair(SDA, "ReBootG", "reboot:r=1,sd=0.5", BERNOULLI, "σ 0.6 for 0.5", runs=100),
    Pair(SDA, "ReBootG", "reboot:r=1,sd=0.5", BETA, "σ 0.6 for 0.5", runs=100),
    Pair(SDA, "IMED", "imed", BERNOULLI, "kl / 2", runs=100),
    Pair(KLMS, "KLMS", "maillard", BERNOULLI, "a fifth greedy", runs=100),
    Pair(LOGISTIC, "gloc", "gloc:norm=1,delta=0.05,penalty=5", SHARED, "norm 2 for 1", runs=40),
    Pair(LOGISTIC, "ol2m", "ol2m:norm=1,delta=0.05,penalty=5", SHARED, "norm 2 for 1", runs=40),
)


def main() -> None:
    """Play what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    for pair in PAIRS:
        key = pair.theirs, pair.problem
        lines = _read(options.out)
        asked = any(word in f"{pair.code} {pair.theirs} {pair.problem}" for word in options.only)
        if asked and not any((line["theirs"], line["problem"]) == key for line in lines):
            try:
                lines.append(compared(pair, options.folder))
            except Trouble as trouble:
                say(f"  left out: {trouble}")
                continue
            command = "python benchmarks/family_peers.py FOLDER"
            write_csv(options.out, lines, note=str(stamp(command)))


def compared(pair: Pair, folder: Path) -> dict[str, str]:
    """Return the regrets of both, and of theirs with a wrong constant, and p values."""
    simulate(pair.ours, pair.problem, rounds=1, runs=1, progress=False)  # compiles
    traces: list[Trace] = []

    def play() -> None:
        traces.append(
            simulate(
                pair.ours,
                pair.problem,
                rounds=pair.rounds,
                runs=OUR_RUNS,
                seed=SEED,
                jobs=1,
                progress=False,
            )
        )

    our_us = 1e6 * cost_of(play).cpu / (pair.rounds * OUR_RUNS)
    (trace,) = traces
    ours = trace.regret[:, -1]
    theirs = _regrets(pair, pair.theirs, folder)
    wrong = _regrets(pair, f"{pair.theirs}-wrong", folder)
    us = float(_played(pair, pair.theirs, folder, FEW)["us"])
    record = {
        "code": pair.code,
        "theirs": pair.theirs,
        "ours": trace.setting.policy,
        "problem": pair.problem,
        "rounds": str(pair.rounds),
        "runs": str(theirs.size),
        "our_runs": str(ours.size),
    }
    for name, regrets in (("regret", theirs), ("our_regret", ours), ("wrong_regret", wrong)):
        record[name] = f"{regrets.mean():.6g}"
        record[f"{name}_se"] = f"{regrets.std(ddof=1) / regrets.size**0.5:.6g}"
    record["p"] = f"{p_of_same_mean(theirs, ours):.3g}"
    record["wrong_p"] = f"{p_of_same_mean(wrong, ours):.3g}"
    record["wrong"], record["us"], record["our_us"] = pair.wrong, f"{us:.4g}", f"{our_us:.4g}"
    say(f"  {pair.theirs} {pair.problem} p {record['p']} wrong {record['wrong_p']}")
    return record


def p_of_same_mean(first: np.ndarray, second: np.ndarray) -> float:
    """Return the p value of Welch's test that both samples have the same mean.

    >>> p_of_same_mean(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0]))
    1.0
    """
    return float(stats.ttest_ind(first, second, equal_var=False).pvalue)


def _regrets(pair: Pair, policy: str, folder: Path) -> np.ndarray:
    """Return the regret of each run of public code."""
    kind = pair.problem.partition(":")[0]
    kept = KEPT / f"{policy}-{kind}-{pair.rounds}-{pair.runs}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(_played(pair, policy, folder, pair.runs)["regrets"]))
    return np.array(json.loads(kept.read_text()))


def _played(pair: Pair, policy: str, folder: Path, runs: int) -> dict[str, Any]:
    """Return regrets of runs of public code, and µs of a round."""
    script = Path(__file__).parent / "peers" / "family.py"
    command = [environment(THEIRS), "-W", "ignore", script, folder, policy, pair.problem]
    answer = printed([*command, str(pair.rounds), str(runs)], THEIRS, timeout=PATIENCE)
    return dict(json.loads(answer.splitlines()[-1]))


def _read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


if __name__ == "__main__":
    main()
