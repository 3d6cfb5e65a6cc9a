"""Choose the defaults of giro-ensemble: pseudo rewards, replicas, and the linear model's penalty.

    python benchmarks/ensemble_defaults.py [--rounds N] [--jobs N] [--out FILE]

Plays settings on every problem below and writes results/ensemble-defaults.csv as it goes; what is
in the file is not played again. Covertype and Adult are not among the problems: they test the
choice afterwards (field.py).

The rule, fixed before the sweep was looked at. On one problem, a setting's score is its mean reward
on a line on which uniform choices have 0 and the best setting of the sweep has 1. A setting's score
is the mean of these over the problems, each counting the same; problems with few features or none
and small gaps are among them, because settings that explore too little fail there. Settings whose
score differs from the best one's by less than the standard error of that difference, over runs,
count as equal. Of these comes first the penalty that all other policies have, then the largest a,
because exploring too much costs little and exploring too little costs for ever, then the fewest
replicas, because they cost time.

The first sweep had few runs, and a run in which the policy stays with a worse arm weighs so much
that standard errors were too large to tell settings apart. So the rule decides in a second sweep,
of more runs and other seeds, among the settings that were at most two standard errors behind the
best of the first.
"""

import argparse
import csv
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from ratio import say

from giro import simulate

RESULTS = Path(__file__).parent.parent / "results" / "ensemble-defaults.csv"
FIELDS = ("sweep", "policy", "problem", "rounds", "runs", "mean_reward", "rewards")
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
Scores = dict[Setting, np.ndarray]  # [run]


class Sweep(NamedTuple):
    """Settings played on all problems, in as many runs."""

    name: str
    settings: tuple[Setting, ...]
    runs: int
    seed: int


def main() -> None:
    """Play what is missing, and print the scores and the choice."""
    options = _options()
    first = scores_of(Sweep("first", SETTINGS, runs=6, seed=0), options)
    near = tuple(setting for setting in SETTINGS if _is_near(first, setting, errors=2.0))
    second = scores_of(Sweep("second", near, runs=24, seed=1), options)
    print(f"best   {best(second).policy}\nchosen {choice(second).policy}")


def scores_of(sweep: Sweep, options: argparse.Namespace) -> Scores:
    """Return the score of each setting in each run, and print them."""
    rewards = _rewards_of(sweep, options)
    total = {setting: np.zeros(sweep.runs) for setting in sweep.settings}
    for problem in PROBLEMS:
        zero = rewards["uniform", problem].mean()
        one = max(rewards[setting.policy, problem].mean() for setting in sweep.settings)
        for setting in sweep.settings:
            score = (rewards[setting.policy, problem] - zero) / (one - zero)
            total[setting] += score / len(PROBLEMS)
    _print_scores(sweep, total)
    return total


def _rewards_of(sweep: Sweep, options: argparse.Namespace) -> Rewards:
    rewards = _read(options.out, sweep, options.rounds)
    for problem in PROBLEMS:
        for policy in ("uniform", *(setting.policy for setting in sweep.settings)):
            if (policy, problem) not in rewards:
                say(f"{sweep.name}  {problem}  {policy}")
                rewards[policy, problem] = _played(policy, problem, sweep, options)
                _append(options, sweep, policy, problem, rewards[policy, problem])
    return rewards


def best(scores: Scores) -> Setting:
    """Return the setting with the highest mean score."""
    return max(scores, key=lambda setting: float(scores[setting].mean()))


def choice(scores: Scores) -> Setting:
    """Return the setting that the rule chooses."""
    equal = [setting for setting in scores if _is_near(scores, setting, errors=1.0)]
    return min(equal, key=lambda s: (s.penalty != USUAL_PENALTY, -s.a, s.replicas))


def _is_near(scores: Scores, setting: Setting, *, errors: float) -> bool:
    """Tell whether the setting is at most so many standard errors behind the best."""
    behind, error = _behind(scores, setting)
    return behind <= errors * error


def _behind(scores: Scores, setting: Setting) -> tuple[float, float]:
    """Return how far the setting is behind the best, with its standard error."""
    behind = scores[best(scores)] - scores[setting]
    return float(behind.mean()), float(behind.std(ddof=1)) / math.sqrt(behind.size)


def _print_scores(sweep: Sweep, scores: Scores) -> None:
    print(f"{sweep.name} sweep, {sweep.runs} runs")
    print(f"{'penalty':>7}  {'a':>5}  {'replicas':>8}  {'score':>7}  {'behind':>7}  {'± se':>7}")
    for setting in sorted(scores, key=lambda setting: -scores[setting].mean()):
        behind, error = _behind(scores, setting)
        numbers = f"{scores[setting].mean():7.4f}  {behind:7.4f}  {error:7.4f}"
        print(f"{setting.penalty:7g}  {setting.a:5g}  {setting.replicas:8d}  {numbers}")
    print()


def _played(policy: str, problem: str, sweep: Sweep, options: argparse.Namespace) -> np.ndarray:
    trace = simulate(
        policy,
        problem,
        rounds=options.rounds,
        runs=sweep.runs,
        seed=sweep.seed,
        jobs=options.jobs,
    )
    return np.asarray(trace.reward[:, -1]) / options.rounds


def _read(path: Path, sweep: Sweep, rounds: int) -> Rewards:
    """Return what was played before of this sweep."""
    if not path.exists():
        return {}
    wanted = (sweep.name, str(rounds), str(sweep.runs))
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if _kind(row) == wanted]
    return {
        (row["policy"], row["problem"]): np.array([float(v) for v in row["rewards"].split()])
        for row in rows
    }


def _kind(row: dict[str, str]) -> tuple[str, str, str]:
    return row["sweep"], row["rounds"], row["runs"]


def _append(
    options: argparse.Namespace, sweep: Sweep, policy: str, problem: str, rewards: np.ndarray
) -> None:
    options.out.parent.mkdir(parents=True, exist_ok=True)
    new = not options.out.exists()
    with options.out.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(FIELDS)
        each = " ".join(f"{reward:.6g}" for reward in rewards)
        what = (sweep.name, policy, problem, options.rounds, sweep.runs)
        writer.writerow([*what, f"{rewards.mean():.6g}", each])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
