"""The same decisions among arms that come and go, as a bandit, as lines of VW, and as arrays."""

import json
from typing import Any, NamedTuple

import numpy as np
from bandit.clock import Clock, chances_of, counted

from giro import Bandit
from giro.evaluation import Log
from giro.features import Schema
from giro.seeds import stream

TOPICS = ("sport", "art", "news")
BY_NAME = "epsilon-greedy:epsilon=1,model=[hashed:bits=6]"  # takes any arm, and hashes features
IN_COLUMNS = "epsilon-greedy:epsilon=1,model=linear"


class Round(NamedTuple):
    """What is known of one decision."""

    context: dict[str, Any]
    arms: dict[str, dict[str, Any]]
    means: list[float]  # of their rewards, which nobody knows


def rounds_of(seed: int, number: int, *, hashed: bool = True, sizes: tuple[int, ...] = (3,)) -> Any:
    """Yield rounds without end; arms have new names all the time, and words if they are hashed."""
    rng = stream(seed, number)
    while True:
        country, n = ("it", "de")[int(rng.integers(2))], int(rng.choice(sizes))
        topics = rng.integers(0, 3, n).tolist()
        lengths = rng.uniform(1.0, 9.0, n).tolist()
        means = [0.8 if (topic == 0) == (country == "it") else 0.3 for topic in topics]
        hour = float(rng.uniform())
        if hashed:
            context: dict[str, Any] = {"user": {"from": country}, "hour": hour}
            arms = [
                {"topic": TOPICS[topic], "length": length}
                for topic, length in zip(topics, lengths, strict=True)
            ]
        else:
            context = {"italian": float(country == "it"), "hour": hour}
            arms = [
                {f"t{k}": float(k == topic) for k in range(3)} | {"length": length}
                for topic, length in zip(topics, lengths, strict=True)
            ]
        yield Round(context, {f"x{rng.integers(10**9)}": arm for arm in arms}, means)


class Made(NamedTuple):
    """One log in three forms."""

    bandit: Bandit
    lines: str
    log: Log
    means: np.ndarray  # [event, place] 0 where there is none


def made(
    seed: int,
    events: int,
    *,
    policy: str = BY_NAME,
    sizes: tuple[int, ...] = (3,),
    number: int = 0,
    **setting: Any,
) -> Made:
    """Return the decisions of an open bandit whose policy hashes features, or has columns."""
    hashed = "hashed" in policy
    bandit = Bandit(policy=policy, seed=seed, clock=Clock(), ids=counted(), **setting)
    coin, given = stream(seed, number, 1), rounds_of(seed, number, hashed=hashed, sizes=sizes)
    rounds, decisions, rewards, lines = [], [], [], []
    for _ in range(events):
        each = next(given)
        values = [*each.context.values()], {n: [*k.values()] for n, k in each.arms.items()}
        decision = (
            bandit.decide(each.context, arms=each.arms)
            if hashed
            else bandit.decide(values[0], arms=values[1])
        )
        place = decision.arms.index(decision.arm)
        reward = float(coin.random() < each.means[place])
        bandit.reward(decision.id, reward)
        rounds.append(each)
        decisions.append(decision)
        rewards.append(reward)
        line = {
            "_labelIndex": place,
            "_label_cost": -reward,
            "_label_probability": decision.propensity,
            "a": [*range(1, len(each.arms) + 1)],
            "p": [*chances_of(decision).values()],
            "c": each.context | {"_multi": [*each.arms.values()]},
        }
        lines.append(json.dumps(line))
    return Made(bandit, "\n".join(lines), *_arrays(rounds, decisions, rewards, hashed=hashed))


def _arrays(
    rounds: list[Round], decisions: list[Any], rewards: list[float], *, hashed: bool
) -> tuple[Log, np.ndarray]:
    n_places = max(len(each.arms) for each in rounds)
    shape = (len(rounds), n_places)
    eligible, chances, means = np.zeros(shape, bool), np.zeros(shape), np.zeros(shape)
    for event, (each, decision) in enumerate(zip(rounds, decisions, strict=True)):
        n = len(each.arms)
        eligible[event, :n] = True
        chances[event, :n] = [*decision.propensities.values()]
        means[event, :n] = each.means
    contexts: Any
    features: list[Any]
    if hashed:
        schema = Schema.of_hashes()
        rows = [schema.encode(each.context, each.arms) for each in rounds]
        contexts, features = [row.context for row in rows], [row.features for row in rows]
    else:
        contexts = np.array([[*each.context.values()] for each in rounds])
        features = [np.array([[*its.values()] for its in each.arms.values()]) for each in rounds]
        schema = Schema.of_numbers(contexts.shape[1], features[0].shape[1])
    log = Log(
        np.array([decision.arms.index(decision.arm) for decision in decisions]),
        tuple(str(place + 1) for place in range(n_places)),
        np.array(rewards),
        np.array([decision.propensity for decision in decisions]),
        contexts,
        schema,
        eligible=None if eligible.all() else eligible,
        probabilities=chances,
        features=features,
        names=[tuple(each.arms) for each in rounds],
    )
    return log, means
