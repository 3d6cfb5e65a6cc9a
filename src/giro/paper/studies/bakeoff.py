"""The bake-off: the default against giro's other policies and other libraries, on many data sets.

This study is not in the paper. `scripts/bakeoff_sets.py` makes the data sets, and
`benchmarks/field.py` plays other libraries on them, in the same orders of the rows. Each row is
played at most once.
"""

import csv
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from giro.cli.output import print_line, print_table
from giro.errors import UnknownName
from giro.paper.claims import LEVEL, Verdict, p_value_of, verdict_record, verdict_table
from giro.paper.studies._bakeoff_sets import PAPER, BakeoffSet, paper_sets, sets_there
from giro.paper.study import Outcome, Study
from giro.policy import Policy
from giro.problem import Problem
from giro.simulation.metrics import estimate
from giro.simulation.simulate import Experiment
from giro.simulation.trace import Trace
from giro.tables import Column, Record, fixed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORDERS, PAPER_ORDERS = 3, 5
DEFAULT = "default"
POLICIES = tuple(
    Policy.parse(text).text
    for text in (
        DEFAULT,
        "rand-ucb",
        "giro-ensemble",
        "giro-ensemble:a=0.3",
        "poisson-bootstrap",
        "lin-ucb",
        "lin-ucb:scale=0.3",
        "lin-ts",
        "lin-ts:scale=0.3",
        "lin-phe",
        "ensemble",
        "tree-bootstrap",
        "epsilon-greedy:model=linear",
        "epsilon-greedy:model=online-logistic",
        "epsilon-greedy:model=online-network",
        "epsilon-greedy:model=extra-trees",
        "epsilon-greedy:model=auto",
        "ucb-glm",
        "glm-ucb",
        "squarecb",
        "squarecb:model=auto",
        "fastcb",
        "fastcb:model=auto",
        "cover",
        "neural-linear",
        "neural-ts",
        "neural-ucb",
        "lin-post",
        "lin-reboot",
        "gloc",
        "ol2m",
    )
)
REACHED = {"statlog": 0.995, "covertype": 0.81, "adult": 0.305}  # by the default, at least
OTHERS = {"statlog": 0.953, "covertype": 0.701, "adult": 0.299}  # by other libraries, at most
GIRO = "giro"

Entrant = tuple[str, str]  # library and policy
Rewards = Mapping[int, float]  # mean reward by order


class Scores(NamedTuple):
    """Rewards and computing times, by entrant and set."""

    rewards: dict[tuple[Entrant, str], dict[int, float]]
    seconds: dict[tuple[Entrant, str], list[float]]  # per round

    def of(self, entrant: Entrant, name: str) -> Rewards:
        """Return the mean rewards of an entrant on a set, empty if it was not played."""
        return self.rewards.get((entrant, name), {})

    def add(self, entrant: Entrant, name: str, order: int, reward: float, seconds: float) -> None:
        """Record a run, with the seconds per round."""
        self.rewards.setdefault((entrant, name), {})[order] = reward
        self.seconds.setdefault((entrant, name), []).append(seconds)

    @property
    def entrants(self) -> list[Entrant]:
        """All entrants, in order of appearance."""
        return list(dict.fromkeys(entrant for entrant, _ in self.rewards))


def study(
    *,
    runs: int,
    seed: int,
    only: Sequence[str],
    policies: Sequence[str],
    folder: Path,
    field: Path,
) -> Study:
    """Return the study of the bake-off.

    This call plays the named sets and policies, and judges all runs that are kept. The tuning half
    is played when its sets are named, and never judged.
    """
    sets = [*sets_there(folder), *paper_sets()]
    names = [each.name for each in sets]
    for name in only:
        if name not in names:
            raise UnknownName("data set of the bake-off", name, known=names)
    asked = [each for each in sets if each.name in only or (not only and each.half != "tuning")]
    chosen = [Policy.parse(text).text for text in policies] or list(POLICIES)
    on_paper = [DEFAULT] if DEFAULT in chosen else chosen[:1]  # the others: reproduce contextual
    experiments = [
        _experiment(each, chosen if each.half != "paper" else on_paper, runs, seed)
        for each in asked
    ]
    judged = [
        work
        for each in sets
        for work in _experiment(
            each,
            list(dict.fromkeys([*POLICIES, *chosen])) if each.half != "paper" else [DEFAULT],
            runs,
            seed,
        ).work
    ]
    return Study(
        f"giro reproduce bakeoff --runs {runs} --seed {seed}",
        partial(_outcome, sets, field),
        experiments,
        judged=judged,
        runs=max(runs, PAPER_ORDERS),
    )


def _experiment(each: BakeoffSet, policies: Sequence[str], runs: int, seed: int) -> Experiment:
    orders = PAPER_ORDERS if each.half == "paper" and runs == ORDERS else runs
    return Experiment([each.problem], policies, each.rounds, orders, seed, points=40)


# -- what it shows ---------------------------------------------------------------------------------


def _outcome(
    sets: Sequence[BakeoffSet], field: Path, traces: list[Trace], finished: bool
) -> Outcome:
    scores = scores_of(sets, traces, field)
    judging = [each for each in sets if each.half == "judging" and not each.small]
    small = [each for each in sets if each.half == "judging" and each.small]
    ranking = ranking_of(scores, judging)
    verdicts = verdicts_of(scores, ranking, judging)
    rewards = [line for each in sets for line in _reward_records(scores, each)]

    def show() -> None:
        for title, several in (("the judging half", judging), ("sets of few rows", small)):
            lines = ranking if several is judging else ranking_of(scores, several)
            print_line(f"{len(several)} data sets of {title}; best mean rank first")
            print_table(_RANKING, lines)
            print_line()
        print_table(_ON_PAPER, _paper_records(scores))
        print_line()
        print_table(*verdict_table(verdicts))
        print_line()
        print_line(
            f"""Wins and losses are those of the default, by paired t tests over the orders of the
rows that both played, two-sided at {LEVEL:.0%} each. Ranks are of mean rewards, among those who
saw all rows of a set in time; mean rewards are over the sets played. The cost of a round is
processor time, averaged over sets."""
        )

    document = {"ranking": ranking, "claims": [verdict_record(verdict) for verdict in verdicts]}
    figures = partial(_figures, scores, ranking, judging)
    return Outcome({"rewards": rewards}, document, show, figures)


def scores_of(sets: Sequence[BakeoffSet], traces: Sequence[Trace], field: Path) -> Scores:
    """Return the scores of giro's policies and of other libraries that saw every row."""
    scores = Scores({}, {})
    by_problem = {Problem.parse(each.problem).text: each for each in sets}
    for trace in traces:
        each, rounds = by_problem[trace.setting.problem], trace.setting.rounds
        for i, order in enumerate(trace.runs.tolist()):
            reward, seconds = float(trace.reward[i, -1]), float(trace.seconds[i])
            entrant = (GIRO, trace.setting.policy)
            scores.add(entrant, each.name, order, reward / rounds, seconds / rounds)
    rounds_of = {each.name: each.rounds for each in sets}
    lines: list[dict[str, str]] = []
    if field.is_file():
        with field.open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(line for line in file if not line.startswith("#")))
    for line in lines:
        name, rounds = line["data"], int(line["rounds"])
        if line["library"] != GIRO and rounds == rounds_of.get(name):
            entrant = (line["library"], line["policy"])
            reward, seconds = float(line["mean_reward"]), float(line["seconds"])
            scores.add(entrant, name, int(line["order"]), reward, seconds / rounds)
    return scores


def ranking_of(scores: Scores, sets: Sequence[BakeoffSet]) -> list[dict[str, Any]]:
    """Return a record for each entrant that played most of these sets, the best mean rank first.

    Its rank on a set is among all that played it. Equal rewards share the mean of their ranks.
    """
    ranks: dict[Entrant, list[float]] = {entrant: [] for entrant in scores.entrants}
    for each in sets:
        players = [entrant for entrant in ranks if scores.of(entrant, each.name)]
        means = np.array([_mean(scores.of(entrant, each.name)) for entrant in players])
        for entrant, mean in zip(players, means, strict=True):
            equal = int((means == mean).sum())
            ranks[entrant].append(1.0 + int((means > mean).sum()) + (equal - 1) / 2)
    records = [
        _ranking_record(scores, entrant, entrant_ranks, sets)
        for entrant, entrant_ranks in ranks.items()
        if len(entrant_ranks) > len(sets) / 2
    ]
    return sorted(records, key=lambda record: record["mean_rank"])


def _ranking_record(
    scores: Scores, entrant: Entrant, ranks: Sequence[float], sets: Sequence[BakeoffSet]
) -> dict[str, Any]:
    wins, losses = wins_and_losses(scores, entrant, sets)
    played = [each.name for each in sets if scores.of(entrant, each.name)]
    seconds = [np.mean(scores.seconds[entrant, name]) for name in played]
    return {
        "library": entrant[0],
        "policy": entrant[1],
        "sets": len(played),
        "mean_rank": float(np.mean(ranks)),
        "mean_reward": float(np.mean([_mean(scores.of(entrant, name)) for name in played])),
        "wins": wins,
        "losses": losses,
        "microseconds": 1e6 * float(np.mean(seconds)),
    }


def _mean(rewards: Rewards) -> float:
    return float(np.mean(list(rewards.values())))


def wins_and_losses(scores: Scores, other: Entrant, sets: Sequence[BakeoffSet]) -> tuple[int, int]:
    """Return on how many sets the default earned significantly more, and less, than another."""
    differences = [difference(scores, other, each.name) for each in sets]
    wins = sum(gain > 0.0 and p <= LEVEL for gain, p in differences)
    return wins, sum(gain < 0.0 and p <= LEVEL for gain, p in differences)


def difference(scores: Scores, other: Entrant, name: str) -> tuple[float, float]:
    """Return the gain of the default on another, and its p value in a paired t test."""
    ours, theirs = scores.of((GIRO, DEFAULT), name), scores.of(other, name)
    gains = np.array([ours[order] - theirs[order] for order in ours if order in theirs])
    if not gains.size:
        return 0.0, 1.0
    gain = estimate(gains)
    return gain.mean, p_value_of(gain, gains.size)


def verdicts_of(
    scores: Scores, ranking: Sequence[Record], judging: Sequence[BakeoffSet]
) -> list[Verdict]:
    """Return the verdicts on the claims about the default."""
    return [*_verdicts_on_ranks(ranking, len(judging)), *_verdicts_on_paper(scores)]


def _verdicts_on_ranks(ranking: Sequence[Record], n_sets: int) -> list[Verdict]:
    ours = [line for line in ranking if _entrant(line) == (GIRO, DEFAULT)]
    others = [line for line in ranking if _entrant(line) != (GIRO, DEFAULT)]
    if not ours or not others:
        return []
    rank, best = ours[0]["mean_rank"], others[0]
    worst = min(others, key=lambda line: line["wins"] - 2 * line["losses"])
    return [
        Verdict(
            f"The default has the best mean rank on the {n_sets} judging sets",
            rank < best["mean_rank"],
            f"{rank:.2f}; next {best['library']} {best['policy']} {best['mean_rank']:.2f}",
        ),
        Verdict(
            "It has two wins for every loss against each of them",
            all(line["wins"] >= 2 * line["losses"] for line in others),
            f"fewest against {worst['library']} {worst['policy']}: "
            f"{worst['wins']} to {worst['losses']}",
        ),
    ]


def _verdicts_on_paper(scores: Scores) -> list[Verdict]:
    paper = {line["data"]: line for line in _paper_records(scores)}
    if set(paper) != set(PAPER):
        return []
    means = [paper[name]["default"] for name in PAPER]
    highest = [paper[name]["others"] for name in PAPER]
    bars, limits = [*REACHED.values()], [*OTHERS.values()]
    return [
        Verdict(
            f"On the paper's sets it earns at least {_listed(bars)}",
            all(m >= bar for m, bar in zip(means, bars, strict=True)),
            _listed(means),
        ),
        Verdict(
            f"No other library earns more than {_listed(limits)} there",
            all(h <= limit for h, limit in zip(highest, limits, strict=True)),
            _listed(highest),
        ),
    ]


def _entrant(line: Record) -> Entrant:
    return line["library"], line["policy"]


def _listed(values: Sequence[float]) -> str:
    return " / ".join(f"{value:.3f}" for value in values)


def _paper_records(scores: Scores) -> list[dict[str, Any]]:
    """Return the default's mean rewards on the paper's sets, and the best of other libraries."""
    records = []
    for name in PAPER:
        ours = scores.of((GIRO, DEFAULT), name)
        others = {
            entrant: _mean(rewards)
            for (entrant, set_name), rewards in scores.rewards.items()
            if set_name == name and entrant[0] != GIRO
        }
        if ours and others:
            best = max(others, key=lambda entrant: others[entrant])
            reward = estimate(np.array(list(ours.values())))
            records.append(
                {
                    "data": name,
                    "default": reward.mean,
                    "se": reward.se,
                    "orders": len(ours),
                    "others": others[best],
                    "best_other": f"{best[0]} {best[1]}",
                }
            )
    return records


def _reward_records(scores: Scores, each: BakeoffSet) -> list[dict[str, Any]]:
    """Return the reward of every entrant on a set, the highest first."""
    records = []
    for entrant in scores.entrants:
        rewards = scores.of(entrant, each.name)
        if rewards:
            reward = estimate(np.array(list(rewards.values())))
            gain, p = difference(scores, entrant, each.name)
            records.append(
                {
                    "data": each.name,
                    "half": each.half,
                    "library": entrant[0],
                    "policy": entrant[1],
                    "mean_reward": reward.mean,
                    "se": reward.se,
                    "orders": len(rewards),
                    "default_gains": gain,
                    "p_value": p,
                }
            )
    return sorted(records, key=lambda record: -record["mean_reward"])


def _figures(
    scores: Scores, ranking: Sequence[Record], judging: Sequence[BakeoffSet]
) -> "dict[str, Figure]":
    from giro.plots.bakeoff import bakeoff_figure  # noqa: PLC0415  # quick start

    if not ranking:
        return {}
    means = {
        (_entrant(line), each.name): _mean(scores.of(_entrant(line), each.name))
        for line in ranking
        for each in judging
        if scores.of(_entrant(line), each.name)
    }
    return {"bakeoff": bakeoff_figure(ranking, [each.name for each in judging], means)}


_RANKING = [
    Column("library"),
    Column("policy", words=True),
    Column("sets"),
    Column("mean_rank", "mean rank", fixed(2)),
    Column("mean_reward", "mean reward", fixed(4)),
    Column("wins"),
    Column("losses"),
    Column("microseconds", "µs a round", fixed(0)),
]
_ON_PAPER = [
    Column("data"),
    Column("default", show=fixed(4)),
    Column("se", show=fixed(4)),
    Column("orders"),
    Column("others", "best of others", fixed(4)),
    Column("best_other", "which", words=True),
]
