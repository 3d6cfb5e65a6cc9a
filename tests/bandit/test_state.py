"""A bandit has one state: arms that come and go, subsets and growth learn nothing again."""

from collections import Counter
from typing import Any

import pytest
from bandit.clock import Clock, bandit_of, live_of

from giro import Bandit, live
from giro.bandit import deciding
from giro.live import LivePolicy

FEATURES = {name: [i / 7, 1 - i / 5] for i, name in enumerate("abcdef")}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count what would be needed to learn something again."""
    counts: Counter[str] = Counter()

    def counted(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def call(*given: Any, **options: Any) -> Any:
            counts[name] += 1
            return original(*given, **options)

        monkeypatch.setattr(owner, name, call)

    monkeypatch.setattr(deciding, "make_ready", lambda *_: None)  # plays once in each process
    counted(live, "start")
    counted(LivePolicy, "learn")
    counted(LivePolicy, "learn_all")
    return counts


def rounds(bandit: Bandit, n: int, *, features: bool, among: str = "abcdef") -> None:
    """Decide and reward, among all active arms of these."""
    for i in range(n):
        names = [name for name in bandit.arms if name in among]
        arms: Any = {name: FEATURES[name] for name in names} if features else names
        decision = bandit.decide([i / 10], arms=arms)
        bandit.reward(decision.id, float(i % 3 == 0))


@pytest.mark.parametrize("policy", ["thompson", "giro", "lin-ucb:scale=0.5"])
def test_arms_that_come_and_go_and_subsets_replay_nothing(policy: str, calls: Counter[str]) -> None:
    features = policy.startswith("lin")
    bandit = bandit_of(policy, "abc")
    rounds(bandit, 20, features=features)
    assert calls == {"start": 2, "learn": 20}  # one only to see that it can start
    state = bandit._state.live
    bandit.add_arm("d")
    rounds(bandit, 5, features=features)
    bandit.retire_arm("b")
    rounds(bandit, 5, features=features)
    for among in ("ac", "ad", "cd", "a", "ac"):
        rounds(bandit, 2, features=features, among=among)
    bandit.add_arm("b")
    for name in "ef":
        bandit.add_arm(name)
        rounds(bandit, 5, features=features)
    assert bandit._state.live is state
    assert calls == {"start": 2, "learn": 50}


def test_full_room_replays_nothing(calls: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: Any = LivePolicy.__init__.__kwdefaults__
    monkeypatch.setitem(sizes, "capacity", 4)
    bandit = bandit_of("giro", "abc")
    rounds(bandit, 40, features=False)
    assert calls == {"start": 2, "learn": 40}
    assert live_of(bandit._state).shape.capacity >= 40


def test_arms_held_back_replay_nothing(calls: Counter[str]) -> None:
    bandit = bandit_of("ucb1", "abc", first_decisions=2)
    rounds(bandit, 12, features=False)
    bandit.add_arm("d")
    waiting = [bandit.decide([0.0]) for _ in range(8)]
    assert [decision.arm for decision in waiting].count("d") == 2
    assert calls == {"start": 2, "learn": 12}


def test_probabilities_are_in_the_log_and_never_worked_out_again(calls: Counter[str]) -> None:
    bandit = bandit_of("thompson", "abc")
    rounds(bandit, 20, features=False)
    calls.clear()
    assert bandit.events().filter(kind="decision")["propensity"].null_count() == 0
    assert calls == {}


def test_a_loaded_bandit_learns_nothing_again(calls: Counter[str], tmp_path: Any) -> None:
    bandit = bandit_of("thompson", "abc")
    rounds(bandit, 20, features=False)
    bandit.save(tmp_path / "x.giro")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live, "fingerprint", lambda *_: live_of(bandit._state)._fingerprint)
        calls.clear()
        loaded = Bandit.load(tmp_path / "x.giro")
    assert calls == {}
    assert live_of(loaded._state).learned == 20


def test_a_state_that_was_interrupted_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    bandit, twin = (Bandit(["a", "b"], "thompson", ids="numbered", clock=Clock()) for _ in "12")
    for each in (bandit, twin):
        each.decide_many(6)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(live.LivePolicy, "learn", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bandit.reward("2", 1.0)
    twin.reward("2", 1.0)
    for each in (bandit, twin):
        each.reward("3", 0.0)
    assert bandit.decide() == twin.decide()
    assert bandit.n_rewards == live_of(bandit._state).learned == 2
