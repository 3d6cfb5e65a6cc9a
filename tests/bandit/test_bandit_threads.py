"""One bandit in several threads: nothing is lost, nothing counts twice."""

import threading
from collections.abc import Callable
from pathlib import Path

import polars as pl
from bandit.clock import bandit_of, live_of, next_arms, state_of

from giro import Bandit


def at_once(work: Callable[[int], None], *, threads: int) -> None:
    """Do work(0), work(1), ... in threads that start together; the first error is raised."""
    begin, errors = threading.Barrier(threads), []

    def run(number: int) -> None:
        begin.wait()
        try:
            work(number)
        except Exception as error:
            errors.append(error)

    running = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    if errors:
        raise errors[0]


def test_no_update_is_lost_or_doubled() -> None:
    bandit = bandit_of("thompson", "abcd")
    n_threads, rounds = 8, 150

    def work(number: int) -> None:
        for i in range(rounds):
            decision = bandit.decide(arms=["a", "b"] if i % 7 == 0 else None)
            assert decision.propensities is not None or number > 0
            bandit.reward(decision.id, i % 2)
            bandit.reward(decision.id, i % 2)
            if number == 0 and i % 40 == 0:
                bandit.retire_arm("d")
                bandit.add_arm("d")
                bandit.events()

    at_once(work, threads=n_threads)
    events = bandit.events()
    counts = dict(events["kind"].value_counts().iter_rows())
    assert counts["decision"] == counts["reward"] == n_threads * rounds
    decided, rewarded = (events.filter(pl.col("kind") == kind) for kind in ("decision", "reward"))
    assert decided["id"].n_unique() == rewarded["id"].n_unique() == n_threads * rounds
    state = live_of(bandit._state).state
    assert state.alpha.sum() + state.beta.sum() == 2 * state.alpha.size + n_threads * rounds
    again = Bandit.replay(events, clock=bandit._follower.clock)
    assert state_of(again) == state_of(bandit)
    assert next_arms(again, 50) == next_arms(bandit, 50)


def test_of_many_reports_of_one_decision_one_counts() -> None:
    bandit = bandit_of("ucb1")
    decisions = bandit.decide_many(50)
    at_once(lambda _: bandit.reward_many([(d.id, 1.0) for d in decisions]), threads=6)
    assert bandit.n_rewards == 50
    assert live_of(bandit._state).state.pulls.sum() == 50


def test_a_file_saved_while_others_decide_is_a_prefix_of_all_that_happens(tmp_path: Path) -> None:
    bandit, files = bandit_of("thompson", "abcd"), []
    n_threads, rounds = 4, 80

    def work(number: int) -> None:
        for i in range(rounds):
            if number == 0 and i % 8 == 0:
                files.append(tmp_path / f"{i}.giro")
                bandit.save(files[-1])
            elif number == 1 and i % 20 == 0:
                bandit.add_arm(f"arm {i}")
                bandit.retire_arm(f"arm {i}")
            else:
                own = f"{number} {i}" if i % 3 else None
                bandit.reward(bandit.decide(id=own).id, i % 2)

    at_once(work, threads=n_threads)
    whole = bandit.events().drop("setting").rows()
    lengths = []
    for file in files:
        loaded = Bandit.load(file)
        mine = loaded.events().drop("setting").rows()
        assert mine == whole[: len(mine)]
        live = loaded._state.live  # not there before the first decision
        assert (live.learned if live else 0) == loaded.n_rewards  # it belongs to these events
        again = Bandit.replay(loaded.events())
        assert next_arms(loaded, 20) == next_arms(again, 20)
        lengths.append(len(mine))
    assert lengths == sorted(lengths)
    assert bandit.n_decisions == bandit.n_rewards == n_threads * rounds - 10 - 4
