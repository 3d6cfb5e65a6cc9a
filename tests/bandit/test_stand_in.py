"""A bandit that decides at once: at random until its policy is compiled."""

from pathlib import Path

import pytest

from giro import Ask, Bandit


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_chance_decides_with_true_probabilities_until_it_is_ready(
    tmp_path: Path, share: float
) -> None:
    where = f"sqlite:///{tmp_path}/x.db"
    with Bandit(list("abcd"), "ucb1", store=where, name="b", share=share, at_once=True) as bandit:
        assert not bandit.is_ready
        assert not bandit.get_ready()  # no decision has shown the form of contexts
        answers = bandit.decide_each([Ask()] * 400)
        decisions = [each[0] for each in answers if isinstance(each, list)]
        other = share / 4
        first = other + 1.0 - share
        assert decisions[0].propensities == pytest.approx(
            {"a": first, "b": other, "c": other, "d": other}
        )
        n_first = sum(decision.arm == "a" for decision in decisions)
        assert abs(n_first - 400 * first) < 5.0 * (400 * first * (1 - first)) ** 0.5
        bandit.reward_each([(each.id, float(each.arm == "c")) for each in decisions])
        assert bandit.get_ready() and bandit.is_ready
        twin = Bandit.open(where, "b")
        assert twin.is_ready
        assert twin.decide(id="x").propensities == bandit.decide(id="y").propensities
        twin.close()


def test_a_snapshot_is_better_than_chance(tmp_path: Path) -> None:
    where = f"sqlite:///{tmp_path}/x.db"
    with Bandit(list("ab"), "ucb1", store=where, name="b") as bandit:
        bandit.reward(bandit.decide().id, 1.0)
        assert bandit.is_ready
    with Bandit.open(where, "b", at_once=True) as bandit:
        assert bandit.is_ready
