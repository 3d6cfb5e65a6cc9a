"""Estimators in Python are fitted while decisions go on."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bandit.clock import Clock, counted
from bandit.stores.postgres import new_database, url_or_reason

from giro import Bandit
from giro.bandit.lessons import Lessons
from giro.bandit.state import BanditState
from giro.models import Logistic
from giro.policies import EpsilonGreedy, GiroEnsemble

pytest.importorskip("sklearn")

from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression, SGDRegressor

PATIENCE = 60.0  # seconds until a test that hangs fails


class Gate:
    """Something that fits wait at, once it is shut."""

    def __init__(self) -> None:
        self.reached, self.open = threading.Event(), threading.Event()
        self.open.set()


GATES: dict[int, Gate] = {}


class Slow(RegressorMixin, BaseEstimator):
    """A linear regression that is fitted when its gate opens."""

    def __init__(self, gate: int = 0) -> None:
        self.gate = gate

    def fit(self, x: np.ndarray, y: np.ndarray, sample_weight: Any = None) -> "Slow":
        gate = GATES[self.gate]
        gate.reached.set()
        gate.open.wait(PATIENCE)
        self.line_ = LinearRegression().fit(x, y, sample_weight)
        return self

    def predict(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.line_.predict(x))


@pytest.fixture(params=[None, "sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """Return where a bandit is: in memory or in a store."""
    if request.param is None:
        return {}
    if request.param == "sqlite":
        return {"name": "b", "store": f"sqlite:///{tmp_path}/x.db"}
    url, reason = url_or_reason()
    if url is None:
        pytest.skip(reason)
    return {"name": "b", "store": new_database(url)}


def taught(bandit: Bandit, rounds: int) -> None:
    for i in range(rounds):
        decision = bandit.decide([float(i % 3), 1.0])
        bandit.reward(decision.id, i % 5 / 4)


def test_decisions_go_on_while_an_estimator_is_fitted(where: dict[str, Any]) -> None:
    gate = GATES[1] = Gate()
    policy = EpsilonGreedy(0.1, model=Slow(1))
    options: dict[str, Any] = {"seed": 1, "clock": Clock(), "ids": counted()}
    with Bandit(["a", "b"], policy, **options, **where) as bandit:
        taught(bandit, 12)
        waiting = bandit.decide([1.0, 1.0])
        gate.reached.clear()
        gate.open.clear()
        rewarding = threading.Thread(target=bandit.reward, args=(waiting.id, 1.0))
        rewarding.start()
        assert gate.reached.wait(PATIENCE)
        made = [bandit.decide([1.0, 0.0]) for _ in range(5)]
        assert rewarding.is_alive(), "the fit is not done yet"
        gate.open.set()
        rewarding.join(PATIENCE)
        for decision in made:
            bandit.reward(decision.id, 0.5)
        assert (bandit.n_decisions, bandit.n_rewards) == (18, 18)
        seen = bandit.events().filter(kind="decision")["seen"].to_list()
        assert seen == [*range(13), *[12] * 5], "the fit that was under way is not known to them"
        again = Bandit.replay(bandit.events(), policy)
        assert again.summary().drop("last_day").equals(bandit.summary().drop("last_day"))


@pytest.mark.parametrize(
    "policy",
    [
        EpsilonGreedy(0.1, model=Slow(2)),
        GiroEnsemble(model=SGDRegressor(), replicas=3),
        EpsilonGreedy(0.1, model=Logistic()),
    ],
    ids=["fitted anew", "fitted further", "compiled"],
)
def test_who_learns_aside_plays_as_who_does_not(
    policy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    GATES[2] = Gate()

    def chances() -> list[Any]:
        bandit = Bandit(["a", "b"], policy, seed=1, clock=Clock(), ids=counted())
        taught(bandit, 60)
        return [decision.propensities for decision in bandit.decide_many([[0.0, 1.0]] * 3)]

    aside = chances()
    lessons = list[Lessons | None]()
    monkeypatch.setattr(BanditState, "lessons", lambda *_: lessons.append(None))
    assert chances() == aside
    assert len(lessons) == 60


def test_lessons_of_a_policy_that_has_changed_meanwhile_are_not_used() -> None:
    GATES[3] = Gate()
    bandit = Bandit(["a", "b"], EpsilonGreedy(0.1, model=Slow(3)), seed=1, clock=Clock())
    taught(bandit, 12)
    live = bandit._state.live
    assert live is not None
    lessons = Lessons(live, [])
    assert lessons.fit(live)
    assert not lessons.fit(lessons.taught)
    for name in "cde":
        bandit.add_arm(name)
    assert not lessons.fit(live)
