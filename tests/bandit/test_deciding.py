"""Requests: encoded once, and answered once."""

from typing import Any

import numpy as np
import pytest
from bandit.clock import bandit_of, state_of

from giro import Ask, BadParameter, Bandit, GiroError
from giro.bandit.deciding import Request, Slot, number_of_draw
from giro.features import Columns
from giro.offer import offer_of


def test_a_request_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    bandit, calls = Bandit(["a", "b"], "lin-ucb"), list[Any]()
    bandit.decide({"x": 1.0})
    encode = Columns.encode

    def counting(self: Columns, *arguments: Any) -> Any:
        calls.append(arguments)
        return encode(self, *arguments)

    monkeypatch.setattr(Columns, "encode", counting)
    bandit.decide_many([{"x": float(i)} for i in range(10)])
    assert len(calls) == 10
    tried = [bandit.decide({"x": 1.0}, arms=[arm]) for arm in "ab"]
    for decision in tried:
        bandit.reward(decision.id, 1.0)
    calls.clear()
    bandit.decide_many([{"x": float(i)} for i in range(10)])
    assert len(calls) == 10
    bandit.rank({"x": 1.0}, slots=2)
    assert len(calls) == 11
    before = len(calls)
    contexts = [{"x": float(i)} for i in range(9)] + [{"x": 1.0, "new": 1.0}]
    bandit._decided([Request(None, each, None) for each in contexts])
    assert len(calls) == before + 20, "those of a request with new names, once more"


@pytest.mark.parametrize("contexts", [3.0, True, -1, "abc", {"x": 1.0}, None])
def test_what_are_no_contexts_is_refused(contexts: Any) -> None:
    bandit = Bandit(["a", "b"], "thompson")
    with pytest.raises(BadParameter, match="decide_many takes contexts, a DataFrame or a number"):
        bandit.decide_many(contexts)
    assert bandit.n_decisions == 0


def test_of_several_decisions_none_is_made_if_one_cannot_be() -> None:
    times = iter([1.0] * 7)
    bandit = bandit_of("ucb1", clock=lambda: next(times))
    before = state_of(bandit)
    with pytest.raises(StopIteration):
        bandit.decide_many(3)  # after arms and form, there is time for two
    assert bandit.n_decisions == 0
    assert bandit.events().filter(kind="decision").height == 0
    assert sum(n for _, n in bandit._state.cold_start.to_json()["unrewarded"]) == 0
    assert bandit.arms == before[1]


def test_the_same_request_again_gets_the_same_decision() -> None:
    bandit = bandit_of("thompson", "abcdefgh")
    first = bandit.decide([1.0, 2.0], id="r", arms=["a", "b", "c"])
    bandit.reward(first.id, 1.0)
    again = bandit.decide([1.0, 2.0], id="r", arms=["a", "b", "c"])
    assert again == first
    assert bandit.n_decisions == 1
    for context, arms in (
        ([1.0, 3.0], ["a", "b", "c"]),
        ([1.0, 2.0], ["a", "b"]),
        ([1.0, 2.0], None),
    ):
        with pytest.raises(BadParameter, match="by another request"):
            bandit.decide(context, id="r", arms=arms)


@pytest.mark.parametrize("policy", ["thompson", "thompson:half_life=50", "giro"])
def test_a_slot_has_the_propensities_of_a_decision_among_the_arms_left(policy: str) -> None:
    """Race for all slots, and one decision after the other, draw the same arms."""
    names = [f"arm {i}" for i in range(30)]
    bandit = Bandit(names, policy, seed=3, floor=0.1)
    for number in range(300):
        decision = bandit.decide()
        bandit.reward(decision.id, float(number % 7 < 2))
    live = bandit._state.live
    assert live is not None
    slots = [Slot(excluded=("arm 3", "arm 4") if i % 3 else ()) for i in range(10)]
    for n, ranking in enumerate((bandit.rank(slots=10), bandit.rank(slots=slots))):
        for number, decision in enumerate(ranking):
            gone = {each.arm for each in ranking[:number]}
            excluded = slots[number].excluded if n else ()
            left = [i for i, name in enumerate(names) if name not in gone and name not in excluded]
            assert decision.arms == tuple(names[i] for i in left)
            drawn = live.draw(
                offer_of(30)._replace(arms=np.array(left)), number_of_draw(decision.id), floor=0.1
            )
            assert drawn is not None
            assert decision.propensities is not None
            assert decision.arm == names[left[drawn.position]]
            wanted = drawn.propensities.tolist()
            assert list(decision.propensities.values()) == pytest.approx(wanted, abs=1e-12)


def test_what_slots_share_is_not_that_of_the_next_request() -> None:
    names = [f"arm {i}" for i in range(6)]
    bandit = Bandit(names, "thompson", seed=3)
    for number in range(60):
        bandit.reward(bandit.decide().id, float(number % 3 == 0))
    asks = [Ask(), Ask(slots=3, arms=names[2:]), Ask(arms=names[:4]), Ask(slots=2, arms=names[1:5])]
    for ask, answer in zip(asks, bandit.decide_each(asks), strict=True):
        assert not isinstance(answer, GiroError)
        for number, decision in enumerate(answer):
            gone = {each.arm for each in answer[:number]}
            left = [name for name in ask.arms or names if name not in gone]
            alone = bandit.decide(arms=left)
            assert decision.propensities is not None
            assert alone.propensities == pytest.approx(decision.propensities, abs=1e-12)
