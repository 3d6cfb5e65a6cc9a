"""Choose the defaults of giro-ensemble: pseudo rewards, replicas, and the linear model's penalty.

    python benchmarks/ensemble_defaults.py [--rounds N] [--runs N] [--out FILE]

Plays every setting on every problem below and writes results/ensemble-defaults.csv as it goes; a
setting that is in the file is not played again. Covertype and Adult are not among the problems:
they test the choice afterwards (field.py).

The rule, fixed before the sweep was looked at. On one problem, a setting's score is its mean reward
on a line on which uniform choices have 0 and the best setting of the sweep has 1. A setting's score
is the mean of these over the problems, each counting the same; problems with few features or none
and small gaps are among them, because settings that explore too little fail there. Settings whose
score differs from the best one's by less than the standard error of that difference, over runs,
count as equal. Of these comes first the penalty that all other policies have, then the largest a,
because exploring too much costs little and exploring too little costs for ever, then the fewest
replicas, because they cost time.
"""

import argparse
import csv
import math
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from ratio import say

from giro import simulate

RESULTS = Path(__file__).parent.parent / "results" / "ensemble-defaults.csv"
FIELDS = ("policy", "problem", "rounds", "runs", "mean_reward", "rewards")
PROBLEMS = (
    "linear:n_arms=10,dimension=3",
    "linear:n_arms=10,dimension=10",
    "linear:n_arms=50,dimension=5",
    "linear:n_arms=3,dimension=20",
    "logistic:n_arms=10,dimension=3,strength=1",
    "logistic:n_arms=10,dimension=10,strength=5",
    "logistic:n_arms=5,dimension=30,strength=3",
    "bernoulli:n_arms=10",
    "bernoulli:means=[0.5,0.45]",
    "beta:n_arms=10,v=4",
    "classification:data=statlog",
)
USUAL_PENALTY = 1.0


class Setting(NamedTuple):
    """One candidate."""

    penalty: float
    a: float
    replicas: int

    @property
    def policy(self) -> str:
        """The policy's text."""
        model = f"[linear:penalty={self.penalty:g}]"
        return f"giro-ensemble:a={self.a:g},model={model},replicas={self.replicas}"


A, REPLICAS = (0.0, 0.03, 0.1, 0.3, 1.0), (5, 10, 20, 50)
SETTINGS = (
    *(Setting(USUAL_PENALTY, a, replicas) for a in A for replicas in REPLICAS),
    *(Setting(penalty, a, 20) for penalty in (0.1, 10.0) for a in A),
)
Rewards = dict[tuple[str, str], np.ndarray]  # (policy, problem) -> [run] mean reward


def main() -> None:
    """Play what is missing, and print the scores and the choice."""
    options = _options()
    rewards = _read(options.out, options.rounds, options.runs)
    for problem in PROBLEMS:
        for policy in ("uniform", *(setting.policy for setting in SETTINGS)):
            if (policy, problem) not in rewards:
                say(f"{problem}  {policy}")
                rewards[policy, problem] = _played(policy, problem, options)
                _append(options, policy, problem, rewards[policy, problem])
    scores = scores_of(rewards)
    _print_scores(scores)
    chosen = choice(scores)
    print(f"\nbest   {best(scores).policy}\nchosen {chosen.policy}")


def scores_of(rewards: Rewards) -> dict[Setting, np.ndarray]:
    """Return the score of each setting in each run, [run]."""
    total = {setting: np.zeros(1) for setting in SETTINGS}
    for problem in PROBLEMS:
        zero = rewards["uniform", problem].mean()
        one = max(rewards[setting.policy, problem].mean() for setting in SETTINGS)
        for setting in SETTINGS:
            score = (rewards[setting.policy, problem] - zero) / (one - zero)
            total[setting] = total[setting] + score / len(PROBLEMS)
    return total


def best(scores: dict[Setting, np.ndarray]) -> Setting:
    """Return the setting with the highest mean score."""
    return max(scores, key=lambda setting: float(scores[setting].mean()))


def choice(scores: dict[Setting, np.ndarray]) -> Setting:
    """Return the setting that the rule chooses."""
    top = scores[best(scores)]
    equal = [setting for setting in scores if _is_equal(scores[setting], top)]
    return min(equal, key=lambda s: (s.penalty != USUAL_PENALTY, -s.a, s.replicas))


def _is_equal(scores: np.ndarray, top: np.ndarray) -> bool:
    behind = top - scores
    error = behind.std(ddof=1) / math.sqrt(behind.size) if behind.size > 1 else 0.0
    return bool(behind.mean() <= error)


def _print_scores(scores: dict[Setting, np.ndarray]) -> None:
    top = scores[best(scores)]
    print(f"{'penalty':>7}  {'a':>5}  {'replicas':>8}  {'score':>7}  {'behind':>7}  {'± se':>7}")
    for setting in sorted(scores, key=lambda setting: -scores[setting].mean()):
        behind = top - scores[setting]
        error = behind.std(ddof=1) / math.sqrt(behind.size) if behind.size > 1 else math.nan
        equal = "  equal" if _is_equal(scores[setting], top) else ""
        penalty, a, replicas = setting
        numbers = f"{scores[setting].mean():7.4f}  {behind.mean():7.4f}  {error:7.4f}"
        print(f"{penalty:7g}  {a:5g}  {replicas:8d}  {numbers}{equal}")


def _played(policy: str, problem: str, options: argparse.Namespace) -> np.ndarray:
    trace = simulate(policy, problem, rounds=options.rounds, runs=options.runs, seed=0, jobs=1)
    return np.asarray(trace.reward[:, -1]) / options.rounds


def _read(path: Path, rounds: int, runs: int) -> Rewards:
    """Return what was played before with as many rounds and runs."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        rows: Iterable[dict[str, str]] = list(csv.DictReader(file))
    return {
        (row["policy"], row["problem"]): np.array([float(v) for v in row["rewards"].split()])
        for row in rows
        if (row["rounds"], row["runs"]) == (str(rounds), str(runs))
    }


def _append(options: argparse.Namespace, policy: str, problem: str, rewards: np.ndarray) -> None:
    options.out.parent.mkdir(parents=True, exist_ok=True)
    new = not options.out.exists()
    with options.out.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(FIELDS)
        each = " ".join(f"{reward:.6g}" for reward in rewards)
        row = [policy, problem, options.rounds, options.runs, f"{rewards.mean():.6g}", each]
        writer.writerow(row)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--out", type=Path, default=RESULTS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
