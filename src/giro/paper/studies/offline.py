"""Models trained offline on all the data (Kveton et al., 2019, Section 6.2, last paragraph)."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from giro.checks import check, whole
from giro.cli.output import print_line, print_table
from giro.compiling import kernel
from giro.kernels.draws.uniform import shuffled
from giro.kernels.giro.pseudo_rewards import REAL
from giro.kernels.regression.rows import Rows, append_row, empty_rows, positions_of
from giro.model import Model, Sample, refit, start, value
from giro.paper.claims import Claim, Comparison, judge, verdict_record, verdict_table
from giro.paper.studies.contextual import DATA, Setup
from giro.paper.study import Outcome, Study
from giro.problem import Problem
from giro.problems.classification import Classification
from giro.progress import shown
from giro.seeds import stream
from giro.simulation.metrics import Estimate, estimate
from giro.tables import Column, fixed

MOST_ROWS = 50_000  # as many as in a run of the bandit
TRAINED = 0.8  # share of the rows; the others are for testing
PASSES = {"linear": (1,), "logistic": (1,), "network": (1, 10, 100)}  # over all training rows
SPLITS = 5
_FEWEST_ROWS = 10


class Score(NamedTuple):
    """The share of rows whose class the models of the arms guess, on one split."""

    data: str
    model: str
    passes: int
    split: int
    seen: float  # on the training rows
    unseen: float


def offline_scores(
    data: Sequence[str] = DATA,
    *,
    scale: str = "column",
    splits: int = SPLITS,
    seed: int = 0,
    most: int = MOST_ROWS,
) -> Iterator[Score]:
    """Yield the score of each model, trained on the rewards of all arms in every row."""
    check("training offline", whole(1), splits=splits)
    check("training offline", whole(_FEWEST_ROWS), rows=most)
    for name in data:
        problem = Problem.parse(Setup(scale).problem(name))
        assert isinstance(problem, Classification)
        for split in range(splits):
            order = shuffled(problem.rows.labels.size, stream(seed, split))[:most]
            contexts, labels = problem.rows.contexts[order], problem.rows.labels[order]
            table = np.column_stack([contexts, np.ones(labels.size)])  # models need the constant
            for model in PASSES:
                trained = _trained(model, table, labels, problem.n_arms, stream(seed, split, 1))
                for passes, seen, unseen in trained:
                    yield Score(name, model, passes, split, seen, unseen)


def _trained(
    model: str, contexts: np.ndarray, labels: np.ndarray, n_arms: int, rng: np.random.Generator
) -> Iterator[tuple[int, float, float]]:
    """Yield the passes so far, and the shares of seen and unseen rows guessed correctly."""
    size, n_features = int(TRAINED * labels.size), contexts.shape[1]
    rows = empty_rows(1, n_features, size)  # the history of one arm
    _append_all(rows, contexts[:size])
    counts = np.zeros((size, 3), np.int32)
    counts[:, REAL] = 1
    sample = Sample(rows, positions_of(rows, 0), counts)
    state = start(Model.parse(model), n_arms, n_features, size, rng)
    done = 0
    for passes in PASSES[model]:
        for arm in range(n_arms):
            rows.rewards[:] = labels[:size] == arm
            for _ in range(passes - done):
                refit(state, arm, sample, rng)
        done = passes
        right = _values(state, contexts, n_arms).argmax(axis=1) == labels
        yield passes, float(right[:size].mean()), float(right[size:].mean())


@kernel
def _append_all(rows: Rows, contexts: np.ndarray) -> None:
    for i in range(contexts.shape[0]):
        append_row(rows, contexts[i], 0, 0.0)


@kernel
def _values(state: Any, contexts: np.ndarray, n_arms: int) -> np.ndarray:
    """Return the predictions of the models, [row, arm]."""
    values = np.empty((contexts.shape[0], n_arms))
    for i in range(contexts.shape[0]):
        for arm in range(n_arms):
            values[i, arm] = value(state, arm, contexts[i])
    return values


def claims(scored: Sequence[Score], *, scale: str = "column") -> list[Claim]:
    """Return the paper's claim about Adult for each number of passes, which it does not state."""
    adult = [score for score in scored if score.data == "adult"]
    if not adult:
        return []
    text = "On Adult a network trained offline is worse than a linear model"
    return [
        Claim(f"6, {_counted(passes)}", text, [_worse(adult, passes, scale)])
        for passes in PASSES["network"]
    ]


def _counted(passes: int) -> str:
    return f"{passes} pass" + ("es" if passes > 1 else "")


def _worse(scored: Sequence[Score], passes: int, scale: str) -> Comparison:
    """Return the lead of the linear model over the network on unseen rows."""
    linear = {score.split: score.unseen for score in scored if score.model == "linear"}
    network = {
        score.split: score.unseen
        for score in scored
        if (score.model, score.passes) == ("network", passes)
    }
    gain = over_splits(np.array([linear[split] - network[split] for split in sorted(network)]))
    what = f"linear against network after {_counted(passes)}, unseen rows"
    return Comparison(what, Setup(scale).problem("adult"), "share of rows", gain, len(network))


def over_splits(values: np.ndarray) -> Estimate:
    """Return the mean over random splits of the same rows into training and test.

    Splits share rows, so their variance is too small. It is increased as Nadeau and Bengio (2003,
    Machine Learning 52) propose, from 1/J to 1/J + test rows / training rows for J splits.
    """
    mean, se, low, high = estimate(values)
    wider = math.sqrt(1.0 + values.size * (1.0 - TRAINED) / TRAINED)
    return Estimate(mean, se * wider, mean - (mean - low) * wider, mean + (high - mean) * wider)


def rows_of(scored: Sequence[Score]) -> Iterator[dict[str, Any]]:
    """Yield the mean over splits for each data set, model and number of passes."""
    keys = dict.fromkeys((score.data, score.model, score.passes) for score in scored)
    for key in keys:
        group = [score for score in scored if (score.data, score.model, score.passes) == key]
        seen = over_splits(np.array([score.seen for score in group]))
        unseen = over_splits(np.array([score.unseen for score in group]))
        yield {
            "data": key[0],
            "model": key[1],
            "passes": key[2],
            "seen": seen.mean,
            "seen_se": seen.se,
            "unseen": unseen.mean,
            "unseen_se": unseen.se,
            "splits": len(group),
        }


def study(
    *, data: Sequence[str], named: bool, scale: str, splits: int, seed: int, most: int
) -> Study:
    """Return the study of models trained offline. `named` says that data sets were given."""

    def outcome(*_: object) -> Outcome:
        scored = []
        total = len(data) * splits * sum(map(len, PASSES.values()))
        with shown("giro trains models", total) as task:
            for score in offline_scores(data, scale=scale, splits=splits, seed=seed, most=most):
                scored.append(score)
                task.doing = f"giro trains {score.model} on {score.data}"
                task.advance()
        verdicts = judge(claims(scored, scale=scale))
        table = list(rows_of(scored))

        def show() -> None:
            columns = [
                *map(Column, ("data", "model", "passes")),
                Column("seen", "seen rows", fixed(4)),
                Column("unseen", "unseen rows", fixed(4)),
                Column("unseen_se", "se", fixed(4)),
            ]
            print_table(columns, table)
            if verdicts:
                print_line()
                print_table(*verdict_table(verdicts))

        tables = {"scores": table, "claims": [verdict_record(verdict) for verdict in verdicts]}
        return Outcome(tables, tables, show)

    return Study(
        f"giro reproduce offline --contexts {scale} --splits {splits} --rows {most} "
        f"--seed {seed}" + (f" --only {','.join(data)}" if named else ""),
        outcome,
    )
