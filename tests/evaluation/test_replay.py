"""Replay: a policy plays on the events of a log whose arm it would choose."""

from dataclasses import replace

import numpy as np
import pytest
from evaluation.known_log import contextual_log, learning_log, uniform_log
from laws import ALPHA, p_value_of_same_counts

from giro import BadParameter, Bandit, Policy, evaluate, simulate
from giro.evaluation import Log, read_log
from giro.evaluation.replay import replayed
from giro.evaluation.target import Learning, live_policy
from giro.offer import case_of, position_of

MEANS, ROUNDS, RUNS = [0.7, 0.4], 30, 1000
RANDOM = "epsilon-greedy:epsilon=0.5"  # the law of one that does not draw never shows the log's


def replays(policy: str, logs: list[Log], *, rejection: bool = False) -> np.ndarray:
    """Return how often each log's first kept events have arm 0, and how much they reward."""
    pairs = []
    for number, log in enumerate(logs):
        lead = Learning(seed=number)
        kept = replayed(Policy.parse(policy), log, lead, rejection=rejection)[:ROUNDS]
        assert kept.size == ROUNDS
        pairs.append((np.sum(log.arm[kept] == 0), log.reward[kept].sum()))
    return np.array(pairs, int)


def online(policy: str, seed: int) -> np.ndarray:
    trace = simulate(policy, "bernoulli:means=[0.7,0.4]", rounds=ROUNDS, runs=RUNS, seed=seed)
    return np.column_stack([trace.pulls[:, 0], trace.reward[:, -1]]).astype(int)


def counts(values: np.ndarray) -> np.ndarray:
    return np.bincount(values, minlength=ROUNDS + 1)


@pytest.mark.parametrize("policy", ["ucb1", "epsilon-greedy:epsilon=0.1"])
def test_replay_of_a_uniform_log_has_the_law_of_playing(seed: int, policy: str) -> None:
    logs = [uniform_log(seed + 7, i, events=200, means=MEANS) for i in range(RUNS)]
    offline, played = replays(policy, logs), online(policy, seed)
    for side in (0, 1):
        assert p_value_of_same_counts(counts(offline[:, side]), counts(played[:, side])) > ALPHA


def test_rejection_gives_a_skewed_log_the_law_of_playing(seed: int) -> None:
    logs = [skewed_log(seed, i) for i in range(RUNS)]
    offline, played = replays(RANDOM, logs, rejection=True), online(RANDOM, seed)
    assert p_value_of_same_counts(counts(offline[:, 0]), counts(played[:, 0])) > ALPHA


def test_without_rejection_a_skewed_log_has_another_law(seed: int) -> None:
    blind = [replace(skewed_log(seed, i), probability=np.full(400, 0.5)) for i in range(RUNS)]
    offline, played = replays(RANDOM, blind), online(RANDOM, seed)
    assert p_value_of_same_counts(counts(offline[:, 0]), counts(played[:, 0])) < ALPHA


def skewed_log(seed: int, number: int) -> Log:
    """Arm 0 with probability 0.75 and arm 1 with 0.25."""
    log = uniform_log(seed + 7, number, events=400, means=MEANS)
    twice = uniform_log(seed + 8, number, events=400, means=MEANS)
    again = (log.arm == 1) & (twice.arm == 0)  # of two arm 1 stays with probability 1/4
    arm = np.where(again, 0, log.arm)
    reward = np.where(again, twice.reward, log.reward)
    return replace(log, arm=arm, reward=reward, probability=np.where(arm == 0, 0.75, 0.25))


def test_kept_events_are_those_where_the_policy_agrees() -> None:
    log = uniform_log(0, 0, events=50, means=MEANS)
    row = evaluate(log, "always:1", estimators=["replay"])["replay"]
    assert row.events == row.effective == np.sum(log.arm == 1)
    assert row.value == log.reward[log.arm == 1].mean()
    assert row.note == f"kept {row.events} of 50 events"


def test_a_fixed_target_is_replayed_by_drawing_its_arms(seed: int) -> None:
    log = uniform_log(seed, 0, events=40_000, means=MEANS)
    row = evaluate(log, {"0": 0.8, "1": 0.2}, estimators=["replay"])["replay"]
    assert abs(row.value - (0.8 * 0.7 + 0.2 * 0.4)) < 5 * row.se
    assert abs(row.events - 20_000) < 5 * 100


def test_the_logging_policy_keeps_all() -> None:
    log = contextual_log(0, 0, events=50)
    row = evaluate(log, "logged", estimators=["replay"])["replay"]
    assert (row.events, row.value) == (50, log.reward.mean())


def test_other_logs_are_refused() -> None:
    with pytest.raises(BadParameter, match="'rejection-replay' thins such a log"):
        evaluate(contextual_log(0, 0, events=50), "ucb1", estimators=["replay"])
    with pytest.raises(BadParameter, match="replay needs a log that chose each of 3 arms"):
        evaluate(
            learning_log(0, 0, events=50, means=[0.1, 0.2, 0.3]), "ucb1", estimators=["replay"]
        )
    log = uniform_log(0, 0, events=50, means=MEANS)
    eligible = np.ones((50, 2), bool)
    with pytest.raises(BadParameter, match="all arms can be chosen in every event"):
        evaluate(replace(log, eligible=eligible), "ucb1", estimators=["replay"])
    never = np.tile([1.0, 0.0], (50, 1))
    with pytest.raises(BadParameter, match="an arm had probability 0"):
        evaluate(replace(log, probabilities=never), "ucb1", estimators=["rejection-replay"])


def test_a_policy_that_grows_with_the_log_keeps_what_a_plain_walk_keeps(seed: int) -> None:
    bandit = Bandit(["a", "b"], "uniform", seed=seed, ids="numbered")
    for i in range(60):
        names = {"x": i % 7 / 7} | ({"y": i % 3 / 3} if i >= 25 else {})
        decision = bandit.decide(names)
        bandit.reward(decision.id, float((decision.arm == "a") == (i % 7 > 3)))
    log, policy = read_log(bandit.events()), Policy.parse("lin-ucb:scale=0.5")
    assert log.widths is not None
    kept = replayed(policy, log, Learning(seed=seed), rejection=False)
    live, wanted = live_policy(policy, log, seed=seed), []
    for event in range(log.events):
        if event == 25:
            live.widen_to(log.schema)
        offer = log.offer_of(event)
        live.stream_of(event)
        arm = live.choose(offer)
        if arm == log.arm[event]:
            live.learn(case_of(offer, position_of(offer, arm)), arm, float(log.reward[event]))
            wanted.append(event)
    assert kept.tolist() == wanted
    assert 10 < len(wanted) < 50
