"""Full disks, databases that go and come back, clocks that go back, other versions of giro."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bandit.clock import Clock, counted, live_of
from bandit.stores.postgres import url_or_reason

from giro import Bandit, live

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_processes_that_are_killed_lose_nothing(store: str) -> None:
    """A short form of `make torture`."""
    if store == "postgres" and url_or_reason()[0] is None:
        pytest.skip(url_or_reason()[1])
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "torture.py", "--store", store, "--cycles", "12"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "nothing lost or doubled, every state equal" in done.stdout


def test_a_clock_that_goes_back_changes_nothing_but_times(tmp_path: Path) -> None:
    clock = Clock()
    options: dict[str, Any] = {"clock": clock, "ids": counted(), "reward_wait": 10.0, "name": "x"}
    with Bandit(["a", "b"], "ucb1", store=f"sqlite:///{tmp_path}/x.db", **options) as bandit:
        bandit.decide()
        clock.now -= 500.0
        bandit.decide()
        bandit.keep()
        assert [decision.id for decision in bandit.pending()] == ["0", "1"]
        clock.now += 20.0
        bandit.keep()
        assert [decision.id for decision in bandit.pending()] == ["0"]
        bandit.reward("0", 1.0)
        kinds = ["decision", "decision", "expired", "reward"]
        assert bandit.events()["kind"].to_list()[-4:] == kinds
        assert bandit.summary()["last_day"].to_list() == [0.5, 0.5]


# -- other versions --------------------------------------------------------------------------


def test_a_snapshot_of_a_giro_that_behaves_otherwise_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = f"sqlite:///{tmp_path}/x.db"
    with Bandit(["a", "b"], "thompson", store=where, name="x") as bandit:
        for i in range(10):
            bandit.reward(bandit.decide().id, float(i % 2))
        bandit._follower._keep_snapshot()
        law = bandit.decide(id="q").propensities
    monkeypatch.setattr(live, "fingerprint", lambda *_: "another")
    with Bandit.open(where, "x") as again:
        assert live_of(again._state).learned == 10
        assert again.decide(id="r").propensities == law
