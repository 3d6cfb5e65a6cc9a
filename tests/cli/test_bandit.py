"""`giro bandit`."""

from pathlib import Path
from typing import Any

import pytest
from bandit.clock import bandit_of
from cli.conftest import Giro
from sklearn.linear_model import Ridge

from giro import Bandit, Records
from giro.policies import EpsilonGreedy


def saved(path: Path, policy: Any = "ucb1", context: Any = None) -> Path:
    """Return the file of a bandit with a retired arm, one without rewards and one that expired."""
    bandit = bandit_of(policy, "ab", reward_range=(0, 10), seed=5)
    for i in range(6):
        arm = "ab"[i % 2]
        bandit.reward(bandit.decide(context, arms=[arm]).id, 4.0 + i % 2 + i // 2)
    bandit.decide(context, arms=["a"])
    bandit.expire(0.0)
    bandit.add_arm("c")
    bandit.decide(context, arms=["c"])
    bandit.retire_arm("b")
    bandit.save(path)
    return path


ARMS = [
    {"arm": "a", "decisions": 4, "rewards": 4, "mean": 3.75, "state": ""},
    {"arm": "b", "decisions": 3, "rewards": 3, "mean": 6.0, "state": "retired"},
    {"arm": "c", "decisions": 1, "rewards": 0, "mean": None, "state": ""},
]


def test_arms_are_shown_with_what_they_earned(giro: Giro, tmp_path: Path) -> None:
    done = giro("bandit", "show", saved(tmp_path / "z.giro"))
    assert (done.status, done.error) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "policy     ucb1"
    assert lines[1] == "setting    seed 5   rewards 0 to 10"
    assert lines[2] == "decisions  8   rewarded 7"
    assert [line.split()[:4] for line in lines[4:]] == [
        ["arm", "decisions", "rewards", "mean"],
        ["a", "4", "4", "3.7500"],
        ["b", "3", "3", "6.0000"],
        ["c", "1", "0", "-"],
    ]
    assert lines[4].split()[4:] == ["low", "high"]
    assert [line.endswith("retired") for line in lines[5:]] == [False, True, False]


def test_a_bandit_in_a_store_is_shown(giro: Giro, tmp_path: Path) -> None:
    where = f"sqlite:///{tmp_path}/x.db"
    assert giro("bandit", "show", where).out == "no bandits\n"
    for name in ("one", "two"):
        Bandit(["a", "b"], "ucb1", store=where, name=name).close()
    assert giro("bandit", "show", where).out == "one\ntwo\n"
    assert giro("bandit", "show", where, "--json").records == ["one", "two"]
    assert giro("bandit", "show", where, "two").out.startswith("policy     ucb1\n")
    done = giro("bandit", "show", where, "three")
    assert (done.status, done.out) == (2, "")
    assert "no bandit 'three'" in done.error


def test_records_hold_the_same(giro: Giro, tmp_path: Path) -> None:
    found = giro("bandit", "show", saved(tmp_path / "z.giro"), "--json").records
    assert [{key: arm[key] for key in ARMS[0]} for arm in found["arms"]] == ARMS
    assert (found["policy"], found["reward_range"], found["decisions"]) == ("ucb1", [0.0, 10.0], 8)


def test_a_policy_of_python_objects_need_not_be_given(giro: Giro, tmp_path: Path) -> None:
    policy = EpsilonGreedy(epsilon=0.1, model=Ridge())
    found = giro("bandit", "show", saved(tmp_path / "z.giro", policy, [1.0]), "--json").records
    assert found["policy"] == "one that holds Python objects"
    assert [{key: arm[key] for key in ARMS[0]} for arm in found["arms"]] == ARMS


def test_other_files_are_refused_in_a_sentence(giro: Giro, tmp_path: Path) -> None:
    (tmp_path / "else.giro").write_text("something else")
    for name in ("none.giro", "else.giro"):
        done = giro("bandit", "show", tmp_path / name)
        assert (done.status, done.out) == (2, "")
        assert name in done.error and done.error.count("\n") == 1


@pytest.mark.parametrize("group", ["bandit", "reproduce", "theory"])
def test_groups_without_a_command_show_their_help(giro: Giro, group: str) -> None:
    done = giro(group)
    assert (done.status, done.error) == (0, "")
    assert done.out == giro(group, "--help").out == giro(group, "-h").out
    assert "\nCommands:\n" in done.out
    assert f"    giro {group}" in done.out


def test_a_bandit_is_created_listed_and_retired(giro: Giro, tmp_path: Path) -> None:
    store = ("--store", f"sqlite:///{tmp_path}/x.db")
    create = ("bandit", "create", "b", "--arms", "x,y", "--policy", "ucb1", *store)
    assert giro(*create).status == 0
    assert giro(*create).status == 2
    assert giro("bandit", "list", *store).out == "b\n"
    with Bandit.open(store[1], "b") as bandit:
        assert (bandit.arms, bandit.policy.text) == (["x", "y"], "ucb1")
    assert giro("bandit", "retire", "b", *store).status == 0
    with Records(store[1]) as records:
        assert records.get("bandit", "b") is not None
    assert giro("bandit", "retire", "c", *store).status == 2
