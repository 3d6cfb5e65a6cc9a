"""Models that are told everything: how they are fitted, and what is claimed of them."""

import math

import numpy as np
import pytest

from giro.paper.claims import judge
from giro.paper.studies import offline


def test_a_linear_model_trained_offline_is_ridge_regression_on_every_arm(seed: int) -> None:
    rng = np.random.default_rng(seed)  # noqa: TID251  # data, not a policy
    contexts = np.column_stack([rng.normal(size=(200, 3)), np.ones(200)])
    labels = (contexts[:, 0] > 0).astype(int) + (contexts[:, 1] > 1)
    ((passes, seen, unseen),) = offline._trained("linear", contexts, labels, 3, rng)
    train = contexts[:160]
    theta = np.linalg.solve(train.T @ train + np.eye(4), train.T @ np.eye(3)[labels[:160]])
    right = (contexts @ theta).argmax(axis=1) == labels
    assert (passes, seen, unseen) == (1, right[:160].mean(), right[160:].mean())


def test_the_offline_claim_compares_unseen_rows_split_by_split() -> None:
    def score(model: str, passes: int, split: int, unseen: float) -> offline.Score:
        return offline.Score("adult", model, passes, split, 1.0, unseen)

    found = [score("linear", 1, split, 0.3 + split / 1000) for split in range(4)]
    for passes in offline.PASSES["network"]:
        found += [score("network", passes, split, 0.2 + split / 1100) for split in range(4)]
    made = offline.claims(found, scale="unit")
    assert [claim.number for claim in made] == ["6, 1 pass", "6, 10 passes", "6, 100 passes"]
    assert {verdict.word for verdict in judge(made)} == {"holds"}
    assert made[0].comparisons[0].gain.mean == pytest.approx(0.1, abs=1e-3)
    assert "scale=unit" in made[0].comparisons[0].problem
    assert next(offline.rows_of(found))["unseen"] == pytest.approx(0.3015)


def test_splits_of_the_same_rows_are_not_taken_for_independent() -> None:
    values = np.array([0.1, 0.2, 0.3, 0.2, 0.1])
    naive = values.std(ddof=1) / math.sqrt(5)
    made = offline.over_splits(values)
    assert made.se == pytest.approx(naive * math.sqrt((1 / 5 + 0.2 / 0.8) * 5))
    assert made.high - made.mean == pytest.approx(made.mean - made.low)
    assert made.high - made.mean == pytest.approx(2.7764451 * made.se)
