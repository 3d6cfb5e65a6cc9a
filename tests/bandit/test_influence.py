"""Which features make which arms likelier."""

from pathlib import Path
from typing import Any

import pytest
from bandit.clock import Clock, bandit_of, counted
from bandit.test_timeline import sums_of

from giro import BadParameter, Bandit
from giro.bandit.influence import Influence
from giro.seeds import stream

FEATURES = {"age": "number", "page": ["news", "shop"], "noise": "number"}


def taught(policy: str, n: int = 300, **options: Any) -> Bandit:
    """Return a bandit that met a world where a pays with age, b on news, and c a little."""
    bandit, rng = bandit_of(policy, features=FEATURES, **options), stream(7)
    for _ in range(n):
        context: dict[str, Any] = {
            "age": float(rng.integers(10, 90)),
            "page": ["news", "shop", "home"][int(rng.integers(3))],
            "noise": float(rng.random()),
        }
        decision = bandit.decide(context)
        pays = {
            "a": (context["age"] - 10.0) / 80.0,
            "b": 0.9 * (context["page"] == "news"),
            "c": 0.3,
        }
        bandit.reward(decision.id, float(rng.random() < pays[decision.arm]))
    return bandit


def strongest(bandit: Bandit, arm: str | None) -> Influence:
    return next(each for each in bandit.influences() if each.arm == arm)


@pytest.mark.parametrize("policy", ["lin-ts:scale=0.3", "log-phe:a=0.5"])  # exact, and by votes
def test_what_matters_comes_first_with_its_direction(policy: str) -> None:
    bandit = taught(policy)
    age, news = strongest(bandit, "a"), strongest(bandit, "b")
    assert (age.feature, news.feature) == ("age", "page")
    assert age.change > 0.2
    low, _, high = age.value.partition(" instead of ")
    assert float(low) > float(high)
    of_b = {each.value: each.change for each in bandit.influences() if each.arm == "b"}
    assert of_b["news"] > 0.2
    assert max(of_b["shop"], of_b["any other word"]) < 0
    noise = [each.change for each in bandit.influences() if each.feature == "noise"]
    assert max(map(abs, noise)) < min(age.change, of_b["news"])


def test_asking_changes_nothing(tmp_path: Path) -> None:
    bandit = taught("log-phe:a=0.5", 60)
    bandit.save(tmp_path / "x.giro")
    twin = Bandit.load(tmp_path / "x.giro", clock=Clock(), ids=counted("next "))
    bandit._new_id = counted("next ")
    first = bandit.influences()
    assert first == bandit.influences() != []
    for i in range(5):
        given = {"age": 20.0 + i, "page": "news", "noise": 0.5}
        mine, others = bandit.decide(given), twin.decide(given)
        assert (mine.arm, mine.propensities) == (others.arm, others.propensities)
    assert sums_of(bandit) == sums_of(twin)


def test_features_of_arms_have_an_influence_on_any_arm() -> None:
    rng = stream(3)
    bandit = Bandit(None, "rand-ucb", ids="numbered", clock=Clock())
    for _ in range(200):
        arms = {
            f"item {i}": {"price": float(rng.random()), "kind": "xy"[i % 2]}
            for i in rng.permutation(20)[:4].tolist()
        }
        decision = bandit.decide({"hour": float(rng.integers(24))}, arms=arms)
        bandit.reward(decision.id, 1.0 - arms[decision.arm]["price"])  # type: ignore[operator]
    price = next(each for each in bandit.influences(arms=2) if each.arm is None)
    assert price.feature == "price"
    assert price.change < -0.2
    assert len({each.arm for each in bandit.influences(arms=2)}) == 3


def test_contexts_that_grew_are_asked_about_as_they_would_be_now() -> None:
    bandit = bandit_of("lin-ts", "ab")
    for i in range(40):
        given = {"x": i % 7} if i < 20 else {"x": i % 7, "late": i % 5, "word": "uvw"[i % 3]}
        bandit.reward(bandit.decide(given).id, float(i % 2))
    features = {each.feature for each in bandit.influences()}
    assert features == {"x", "late", "word"}
    values = {each.value for each in bandit.influences() if each.feature == "word"}
    assert "missing" in values
    assert any(value.startswith("words with hash") for value in values)


def test_there_are_none_where_they_cannot_be_known() -> None:
    hashed = bandit_of("giro-ensemble:model=hashed", "ab")
    changing = bandit_of("giro", "ab")
    blind = bandit_of("thompson", "ab")
    new = bandit_of("lin-ts", "ab")
    for bandit in (hashed, changing, blind):
        for i in range(8):
            given = {"x": i} if bandit is hashed else None
            bandit.reward(bandit.decide(given).id, float(i % 2))
    assert [b.influences() for b in (hashed, changing, blind, new)] == [[], [], [], []]
    constant = bandit_of("lin-ts", "ab")
    for i in range(8):
        constant.reward(constant.decide({"x": 1.0}, arms=["a"] if i % 2 else None).id, 1.0)
    assert constant.influences() == []
    with pytest.raises(BadParameter, match="arms"):
        new.influences(arms=0)


def test_a_sequence_of_numbers_is_named_by_places() -> None:
    bandit = bandit_of("lin-ucb:scale=0.2", "ab")
    for i in range(60):
        decision = bandit.decide([float(i % 10), 1.0])
        bandit.reward(decision.id, float((i % 10 > 4) == (decision.arm == "a")))
    first = strongest(bandit, "a")
    assert (first.feature, first.change > 0) == ("number 0", True)
