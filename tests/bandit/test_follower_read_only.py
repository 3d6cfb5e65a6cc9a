"""A bandit that is opened to be looked at changes nothing."""

from collections.abc import Callable
from typing import Any

import pytest
from bandit.clock import Clock, counted

from giro import BadParameter, Bandit
from giro.bandit.follower import Follower


def test_a_bandit_to_look_at_follows_and_changes_nothing(where: str | None) -> None:
    if where is None:
        pytest.skip("memory has one process")
    clock = Clock()
    options: dict[str, Any] = {"clock": clock, "ids": counted(), "reward_wait": 10.0}
    with Bandit(["a", "b"], "thompson", name="x", store=where, **options) as bandit:
        decision = bandit.decide()
        bandit.close()
        clock.now += 100.0  # the decision could expire
        looked_at = Bandit.open(where, "x", "ucb1", read_only=True, clock=clock)
        before = looked_at.position
        assert looked_at.policy.text.startswith("ucb1")
        assert looked_at.lag == 0
        looked_at.keep()
        changes: list[Callable[[], object]] = [
            looked_at.decide,
            lambda: looked_at.reward(decision.id, 1.0),
            lambda: looked_at.erase([decision.id]),
            lambda: looked_at.add_arm("c"),
            lambda: looked_at.change(share=0.5),
        ]
        for change in changes:
            with pytest.raises(BadParameter, match="read_only=True"):
                change()
        with Bandit.open(where, "x", clock=clock, ids=counted("other ")) as other:
            assert other.policy.text.startswith("thompson")
            other.decide()
            assert other.position == before + 1
            looked_at._follower.follow()
            assert (looked_at.position, looked_at.n_decisions) == (before + 1, 2)
        looked_at.close()


def test_nothing_is_kept_by_one_who_looks(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    where = f"sqlite:///{tmp_path}/x.db"
    Bandit(["a", "b"], "thompson", name="x", store=where).close()
    bandit = Bandit.open(where, "x", read_only=True)
    monkeypatch.setattr(Follower, "_keep_snapshot", lambda _: pytest.fail("kept"))
    bandit._follower._snapshot_at = -1
    bandit.close()
