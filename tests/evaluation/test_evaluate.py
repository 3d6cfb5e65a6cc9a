"""What may be asked of an evaluation, and that it repeats itself."""

import math

import pytest
from evaluation.known_log import contextual_log, target, uniform_log

from giro import BadParameter, UnknownName, evaluate


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"level": 1.0}, "0 < level < 1"),
        ({"clip": 0.0}, "a finite clip > 0"),
        ({"clip": math.nan}, "a finite clip > 0"),
        ({"folds": 1}, "a whole number folds >= 2, got folds=1"),
        ({"votes": 0}, "a whole number votes >= 1"),
        ({"seed": -1}, "a whole number seed >= 0"),
        ({"estimators": []}, "estimators is a list"),
        ({"estimators": "ips"}, "estimators is a list"),
        ({"estimators": ["ips", "ips"]}, "listed twice"),
        ({"estimators": ["isp"]}, "did you mean 'ips'"),
        ({"interval": "exact"}, "no interval is called 'exact'"),
        ({"reward_range": (1, 1)}, "low < high"),
        ({"reward_range": (0, math.inf)}, "reward_range is"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], said: str) -> None:
    log = uniform_log(0, 0, events=10, means=[0.5, 0.5])
    with pytest.raises((BadParameter, UnknownName), match=said):
        evaluate(log, "ucb1", **options)  # type: ignore[arg-type]


def test_estimators_come_in_the_order_asked_for() -> None:
    log = contextual_log(0, 0, events=50)
    asked = ("rejection-replay", "dr", "ips")
    assert [row.estimator for row in evaluate(log, "logged", estimators=asked).rows] == list(asked)


def test_the_same_seed_gives_the_same_numbers_and_another_one_others() -> None:
    log = contextual_log(0, 0, events=50)

    def rows(seed: int) -> object:
        return evaluate(log, "uniform", votes=10, interval="bootstrap", seed=seed).rows

    assert rows(3) == rows(3)
    assert evaluate(log, target, interval="bootstrap", seed=3) != evaluate(
        log, target, interval="bootstrap", seed=4
    )
