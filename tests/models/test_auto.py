"""Auto: members weighed by what they predicted before learning, against a plain twin."""

from typing import Any

import numpy as np
import pytest
from bandit.clock import bandit_of
from contract.without_compiling import passed_without_compiling
from models.auto_twins import MEMBERS, D, assert_follows_twin, two_slots
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

from giro import simulate
from giro.errors import BadParameter, GiroError
from giro.model import Model, start
from giro.models.auto import Auto
from giro.models.estimator import Estimator
from giro.models.linear import Linear
from giro.models.tree import Tree
from giro.policies.rand_ucb import RandUcb
from giro.seeds import stream


def test_members_are_weighed_and_fitted_as_by_a_plain_twin() -> None:
    """In plain Python, as compiled ones fit to the last bit like these: tests/test_models.py."""
    assert passed_without_compiling("models/auto_twins.py") == 6


def test_members_are_written_and_read() -> None:
    model = Model.parse("auto:members=[linear,tree:depth=2],eta=0.5")
    assert model == Auto(members=(Linear(), Tree(depth=2)), eta=0.5)
    assert Model.parse(model.text) == model
    assert Auto.parse("auto:members=[linear,tree]").members == (Linear(), Tree())
    policy = RandUcb(model=Auto(members=(Linear(), Tree(depth=2))))
    assert RandUcb.parse(policy.text) == policy
    members: Any = ["linear", Tree()]  # texts and lists are taken, too
    assert Auto(members=members).members == (Linear(), Tree())


@pytest.mark.parametrize("members", [(), [], None, "linear"])
def test_members_are_needed(members: Any) -> None:
    with pytest.raises(BadParameter, match="auto needs members"):
        Auto(members=members)


@pytest.mark.parametrize(
    "text", ["eta=0", "eta=-1", "eta=inf", "growth=0.5", "members=[]", "members=[linear,nobody]"]
)
def test_bad_parameters_are_refused(text: str) -> None:
    with pytest.raises(
        GiroError, match=text.partition("=")[0] if "nobody" not in text else "nobody"
    ):
        Model.parse(f"auto:{text}")


NEIGHBOURS = Auto(members=(Linear(), KNeighborsRegressor(1)), eta=1.0)


def test_an_estimator_may_be_a_member(seed: int) -> None:
    assert not NEIGHBOURS.compiles and Auto(members=MEMBERS).compiles
    assert isinstance(NEIGHBOURS.members[1], Estimator)
    rows = two_slots(60, seed, crossed=True)
    _, twin = assert_follows_twin(NEIGHBOURS, rows, seed)
    assert twin.shares[1] > 0.6


def test_an_estimator_plays_as_a_member(seed: int) -> None:
    policy = RandUcb(model=NEIGHBOURS)
    trace = simulate(policy, "linear:n_arms=3,dimension=4", rounds=40, runs=1, seed=seed)
    assert np.isfinite(trace.regret).all()
    bandit, rng = bandit_of(policy, "abc", seed=seed), stream(seed, 2)
    for _ in range(20):
        decision = bandit.decide(rng.normal(size=2))
        assert decision.propensities is not None
        assert sum(decision.propensities.values()) == pytest.approx(1.0)
        bandit.reward(decision.id, float(decision.arm == "b"))
    laws = [(bandit.decide(rng.normal(size=2)).propensities or {})["b"] for _ in range(20)]
    assert np.mean(laws) > 0.5


def test_a_member_that_compiles_stays_compiled_beside_one_that_does_not() -> None:
    state = start(Auto(members=(Linear(), LinearRegression())), 1, D, 4, stream(0))
    assert hasattr(state, "is_in_python") and not hasattr(state.members[0], "is_in_python")
