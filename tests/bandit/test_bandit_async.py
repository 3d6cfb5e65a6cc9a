"""Bandits in an event loop: calls run beside it, and give what the others give."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from bandit.clock import counted

from giro import BadParameter, Bandit


def test_calls_of_a_loop_are_those_of_threads(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'log.db'}"

    async def work(bandit: Bandit) -> list[str]:
        decisions = await asyncio.gather(*(bandit.decide_async(id=f"d{i}") for i in range(30)))
        await asyncio.gather(*(bandit.reward_async(each.id, 1.0) for each in decisions))
        first, second = await bandit.rank_async(slots=2, id="r")
        assert first.arm != second.arm
        return [each.id for each in decisions]

    with Bandit(["a", "b", "c"], "thompson", name="x", store=store) as bandit:
        ids = asyncio.run(work(bandit))
        assert ids == [f"d{i}" for i in range(30)]
        assert bandit.n_rewards == 30
        assert len(bandit.pending()) == 2


def test_no_call_runs_on_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    bandit, threads = Bandit(["a", "b"], "thompson", ids=counted()), set[int]()
    decide = Bandit.decide

    def noting(self: Bandit, *arguments: Any, **options: Any) -> Any:
        threads.add(threading.get_ident())
        return decide(self, *arguments, **options)

    monkeypatch.setattr(Bandit, "decide", noting)
    decision = asyncio.run(bandit.decide_async(arms=["a"]))
    assert decision.arm == "a"
    assert threading.get_ident() not in threads


def test_errors_reach_the_caller() -> None:
    bandit = Bandit(["a", "b"], "thompson")
    with pytest.raises(BadParameter, match="no decision has the id"):
        asyncio.run(bandit.reward_async("nobody", 1.0))
