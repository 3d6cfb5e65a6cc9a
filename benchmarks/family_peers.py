"""The family against public code of authors and others, run aside, by a test of the same regret.

    python benchmarks/family_peers.py FOLDER [--only WORD ...] [--speed]

FOLDER holds a checkout of each repository in `CODE`, at the commit named there, under the last part
of its name. Nothing of it is copied. It runs in an environment of its own.

Each public policy plays a problem, and so does giro's, in runs that share nothing. A two-sample
test (Welch) compares the mean regrets. That the test notices a mistake is shown by the same public
policy with one constant changed. A line for each is written to results/family/peers.csv as it ends.
Regrets of public code are kept in .benchmarks/family, and are not computed again. With `--speed`,
lines of results/family/speed.csv say what a round of both costs without contexts.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from python_libraries import Library, Trouble, environment, printed
from ratio import csv_lines, say
from scipy import stats

from giro import Policy, simulate
from giro.simulation.trace import Trace
from giro.tables import write_csv
from giro.version import stamp

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "family" / "peers.csv"
SPEED = ROOT / "results" / "family" / "speed.csv"
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
TORCH = Library("family_torch", (*THEIRS.requirements, "torch==2.13.0"))
PATIENCE, SEED = 7_200.0, 300

SDA = "DBaudry/Sub-Sampling-Dueling-Algorithms-Neurips20@c362488"
KLMS = "MjolnirT/Kullback-Leibler-Maillard-Sampling@817f4d3"
LOGISTIC = "criteo-research/logistic_bandit@d5e8aa2"
BERNOULLI = "bernoulli:means=[0.6,0.5,0.4,0.3]"
BETA = "beta:v=4,means=[0.6,0.5,0.4,0.3]"
SHARED = "logistic:n_arms=10,dimension=4,strength=1,shared=true"
RESIDUALS = "ShuangWu22/LinReBoot_Experiments@0f2f973"
SHOWDOWN = (
    "tensorflow/models@5eb294f84"  # the last commit that has research/deep_contextual_bandits
)
OPTIMISM, DRAWS = "uclaml/NeuralUCB@9a74044", "ZeroWeight/NeuralTS@d1c1afb"
MATRIX = "HCDM/BanditLib@a06163a"
ONE_MODEL = "linear:n_arms=5,dimension=3,shared=true"
BY_ARM = "linear:n_arms=4,dimension=3"
USERS = "low-rank:users=5,n_arms=10"
GLOC, OL2M = (f"{name}:norm=1,delta=0.05,penalty=5" for name in ("gloc", "ol2m"))
REBOOT, NEURAL = "lin-reboot:w=0.4,penalty=0.1", "neural-linear:hidden=50,every=50"
UCB, TS, NU = "neural-ucb:hidden=32", "neural-ts:hidden=32", "ν 0.01 for 1"


class Pair(NamedTuple):
    """A public policy and giro's, on a problem."""

    code: str  # repository and commit
    theirs: str  # a name of `benchmarks/peers/family.py`
    ours: str
    problem: str
    wrong: str  # the constant that is changed
    rounds: int = 1_000
    runs: int = 300
    our_runs: int = 2_000
    seed: int = 0
    library: Library = THEIRS

    @property
    def key(self) -> tuple[str, ...]:
        """What tells a line from others."""
        return self.theirs, self.problem, str(self.seed)

    @property
    def named(self) -> dict[str, str]:
        """The first columns of a line."""
        ours = Policy.parse(self.ours).text
        names = {"code": self.code, "theirs": self.theirs, "ours": ours, "problem": self.problem}
        return names | {"seed": str(self.seed)}


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
    Pair(SDA, "SSMC", "sda:block=worst", BETA, "16 √(log r) forced", runs=1_000, seed=1),
    Pair(LOGISTIC, "gloc", GLOC, SHARED, "norm 2 for 1", runs=40),
    Pair(LOGISTIC, "gloc, three changes", GLOC, SHARED, "norm 2 for 1", runs=40),
    Pair(LOGISTIC, "gloc, and radius", GLOC, SHARED, "norm 2 for 1", runs=100),
    Pair(LOGISTIC, "ol2m", OL2M, SHARED, "norm 2 for 1", runs=40),
    Pair(LOGISTIC, "ol2m, two changes", OL2M, SHARED, "norm 2 for 1", runs=100),
    Pair(RESIDUALS, "Linear_ReBoot_G", REBOOT, ONE_MODEL, "w 0.8 for 0.4", 500, 60),
    Pair(RESIDUALS, "Linear_ReBoot_G, RSS s/4", REBOOT, ONE_MODEL, "w 0.8 for 0.4", 500, 100),
    Pair(SHOWDOWN, "LinearFullPosteriorSampling", "lin-post", BY_ARM, "b 24 for 6", 300, 30),
    Pair(SHOWDOWN, "NeuralLinear, giro's network", NEURAL, BY_ARM, "b 24 for 6", 300, 15, 300),
    Pair(OPTIMISM, "NeuralUCB, giro's network", UCB, ONE_MODEL, NU, 200, 60, 400, library=TORCH),
    Pair(DRAWS, "NeuralTS, giro's network", TS, ONE_MODEL, NU, 200, 60, 400, library=TORCH),
    Pair(MATRIX, "PTS", "pts", USERS, "σ 1 for 0.5", 200, 12, 200),
    Pair(MATRIX, "PTS, own particles", "pts", USERS, "σ 1 for 0.5", 200, 12, 200),
)


def main() -> None:
    """Play what is missing, or measure what rounds cost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD")
    parser.add_argument("--speed", action="store_true", help="µs of a round, not regret")
    options = parser.parse_args()
    out, work = (SPEED, timed) if options.speed else (RESULTS, compared)
    for pair in PAIRS:
        lines = csv_lines(out)
        asked = any(word in f"{pair.code} {pair.theirs} {pair.problem}" for word in options.only)
        asked &= not options.speed or (pair.problem in (BERNOULLI, BETA) and pair.seed == 0)
        there = {(line["theirs"], line["problem"], line["seed"]) for line in lines}
        if asked and pair.key not in there:
            try:
                line = pair.named | work(pair, options.folder)
            except Trouble as trouble:
                say(f"  left out: {trouble}")
                continue
            made_by = str(stamp("python benchmarks/family_peers.py FOLDER"))
            line["made_by"] = made_by
            say(f"  {line}")
            write_csv(out, [*lines, line], note=made_by)


def compared(pair: Pair, folder: Path) -> dict[str, str]:
    """Return the regrets of both, and of theirs with a wrong constant, and p values."""
    ours = _ours(pair, pair.rounds, pair.our_runs)[0].regret[:, -1]
    theirs = _regrets(pair, pair.theirs, folder)
    wrong = _regrets(pair, f"{pair.theirs}-wrong", folder)
    counts = {"rounds": pair.rounds, "runs": theirs.size, "our_runs": ours.size}
    record = {name: str(count) for name, count in counts.items()}
    for name, regrets in (("regret", theirs), ("our_regret", ours), ("wrong_regret", wrong)):
        record[name] = f"{regrets.mean():.6g}"
        record[f"{name}_se"] = f"{regrets.std(ddof=1) / regrets.size**0.5:.6g}"
    record["p"] = f"{p_of_same_mean(theirs, ours):.3g}"
    record["wrong_p"] = f"{p_of_same_mean(wrong, ours):.3g}"
    return record | {"wrong": pair.wrong}


def timed(pair: Pair, folder: Path) -> dict[str, str]:
    """Return µs of processor time a round of both, in short runs and in long ones."""
    record = {}
    for rounds, runs, our_runs in ((1_000, 5, 600), (10_000, 1, 60)):
        us = _played(pair, pair.theirs, folder, runs, rounds)["us"]
        record[f"us_{rounds}"] = f"{us:.4g}"
        record[f"our_us_{rounds}"] = f"{_ours(pair, rounds, our_runs)[1]:.4g}"
    return record


def _ours(pair: Pair, rounds: int, runs: int) -> tuple[Trace, float]:
    """Return runs of giro's policy, and µs of processor time a round."""
    options: dict[str, Any] = {"seed": SEED + pair.seed, "jobs": 1, "progress": False}
    simulate(pair.ours, pair.problem, rounds=1, runs=1, **options)  # compiles
    began = time.process_time()
    trace = simulate(pair.ours, pair.problem, rounds=rounds, runs=runs, **options)
    return trace, 1e6 * (time.process_time() - began) / (rounds * runs)


def p_of_same_mean(first: np.ndarray, second: np.ndarray) -> float:
    """Return the p value of Welch's test that both samples have the same mean.

    >>> p_of_same_mean(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0]))
    1.0
    """
    return float(stats.ttest_ind(first, second, equal_var=False).pvalue)


def _regrets(pair: Pair, policy: str, folder: Path) -> np.ndarray:
    """Return the regret of each run of public code."""
    kind = pair.problem.partition(":")[0]
    kept = KEPT / f"{policy}-{kind}-{pair.rounds}-{pair.runs}-{pair.seed}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(
            json.dumps(_played(pair, policy, folder, pair.runs, pair.rounds)["regrets"])
        )
    return np.array(json.loads(kept.read_text()))


def _played(pair: Pair, policy: str, folder: Path, runs: int, rounds: int) -> dict[str, Any]:
    """Return regrets of runs of public code, and µs of a round."""
    script = Path(__file__).parent / "peers" / "family.py"
    command = [environment(pair.library), "-W", "ignore", script, folder, policy, pair.problem]
    numbers = map(str, (rounds, runs, pair.seed))
    answer = printed([*command, *numbers], pair.library, timeout=PATIENCE)
    return dict(json.loads(answer.splitlines()[-1]))


if __name__ == "__main__":
    main()
