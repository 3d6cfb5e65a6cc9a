"""The policy that `giro.evaluate` judges is the one that decides, to the last bit.

For every policy that uses contexts, on logs with units of thousands and millionths, missing values,
words, interactions, arms with features, hashed features, and names that come later.
"""

from typing import Any

import numpy as np
import pytest
from bandit.clock import counted
from contract.test_growth import learned
from known import each, policies_in_bandits

import giro
from giro import Bandit, Policy, evaluate, read_log
from giro.bandit.event import Decided
from giro.bandit.exchange import events_in
from giro.bandit.state import BanditState
from giro.bandit.stores import MemoryStore
from giro.evaluation.target import follow_schema, live_policy, probabilities_in
from giro.offer import Offer, case_of, position_of
from giro.seeds import stream

EVENTS, SEED = 40, 5
LOGGERS = {  # by whether arms have features, and whether these are hashed
    (False, False): "epsilon-greedy:epsilon=1,model=linear",
    (True, False): "epsilon-greedy:epsilon=1,model=linear",
    (False, True): "epsilon-greedy:epsilon=1,model=[hashed:bits=10]",
    (True, True): "epsilon-greedy:epsilon=1,model=[hashed:bits=10]",
}


def context_of(rng: np.random.Generator, number: int) -> dict[str, Any]:
    """Return a context of numbers in any unit, words and gaps; names come in later decisions."""
    context: dict[str, Any] = {
        "year": int(rng.integers(2000, 2021)),
        "share": float(rng.random() * 1e-6),
        "user": {"country": str(rng.choice(["it", "de"])), "vip": bool(rng.random() < 0.5)},
        "_secret": "left out",
    }
    if rng.random() < 0.2:
        context["year"] = None
    if number >= EVENTS // 2:
        context |= {"late": float(rng.normal() * 1e3), "tags": ["a", str(rng.choice(["b", "c"]))]}
    return context


def arms_of(rng: np.random.Generator, number: int) -> dict[str, Any]:
    """Return features of arms; one of them comes later, and an arm may have none."""
    arms: dict[str, Any] = {
        name: {"price": float(rng.random() * 1e4), "topic": str(rng.choice(["x", "y"]))}
        for name in "abc"
    }
    if number >= EVENTS // 3:
        arms["b"]["length"] = float(rng.normal())
        arms["c"] = None
    return arms


def logged(policy: Policy, *, features: bool, standardise: bool = True) -> Any:
    """Return the events of a bandit that takes any arm, with a schema as the policy would have."""
    hashed = policy.resolved(contextual=True).hashes_features
    interactions = ["user*topic", "year*arm"] if features else None
    options: dict[str, Any] = {"rounds": EVENTS, "ids": counted(), "seed": SEED}
    logger = LOGGERS[features, hashed]
    bandit = Bandit(
        ["a", "b", "c"], logger, interactions=interactions, standardise=standardise, **options
    )
    rng = stream(3, features, hashed)
    for number in range(EVENTS):
        context, arms = context_of(rng, number), arms_of(rng, number)
        decision = bandit.decide(context, arms=arms if features else None)
        chance = 0.2 + 0.6 * (decision.arm == ("a" if (context["year"] or 2010) > 2010 else "b"))
        bandit.reward(decision.id, float(rng.random() < chance))
    return bandit.events()


def decided_by_a_bandit(policy: Policy, events: Any) -> tuple[list[Any], BanditState]:
    """Return the probabilities of a bandit's policy before each event, and its state at the end."""
    store, state, laws = MemoryStore(), BanditState(policy), list[Any]()
    for event in events_in(events):
        if isinstance(event, Decided):
            assert state.live is not None
            offer = Offer(event.arms, event.context, event.features)
            laws.append(state.live.propensities(offer))
        store.append([event])
        state.apply([event], store.find)
    return laws, state


def judged() -> list[Policy]:
    return [p for p in policies_in_bandits() if p.resolved(contextual=True).uses_contexts]


@each(judged())
@pytest.mark.parametrize("features", [False, True], ids=["contexts", "features"])
@pytest.mark.parametrize("standardise", [True, False], ids=["standardised", "raw"])
def test_evaluation_judges_the_policy_that_decides(
    policy: Policy, features: bool, standardise: bool
) -> None:
    if features and not policy.uses_arm_features:
        return
    if not standardise and policy.name not in ("lin-ucb", "giro-ensemble"):
        return
    events = logged(policy, features=features, standardise=standardise)
    log = read_log(events)
    assert log.schema.steps or log.schema.is_sparse, "the schema should have grown"
    laws, state = decided_by_a_bandit(policy, events)
    found = probabilities_in(policy, log, log.reward, votes=2, seed=SEED).probabilities
    for law, row in zip(laws, found, strict=True):
        if law is not None:
            assert row.tolist() == law.tolist()
    if all(law is None for law in laws) and state.live is not None:
        live = led_through(policy, log)
        mine, twins = learned(state.live), learned(live)
        assert mine.keys() == twins.keys()
        if not live.played.choose_mutates_state:
            assert all(np.array_equal(mine[path], twins[path]) for path in mine)


def led_through(policy: Policy, log: giro.evaluation.Log) -> Any:
    """Return the policy after evaluation has led it through a log, without its choices."""
    live = live_policy(policy, log, seed=SEED)
    for event in range(log.events):
        offer, arm = follow_schema(live, log, event), int(log.arm[event])
        live.learn(case_of(offer, position_of(offer, arm)), arm, float(log.reward[event]))
    return live


# -- the year --------------------------------------------------------------------------------------


def log_of_years(events: int = 2_000, *, by_hand: bool) -> dict[str, Any]:
    """Return a uniform log in which one arm pays in late years and the other in early ones."""
    rng = stream(8, 2)
    years, arm = rng.integers(2000, 2021, events), rng.integers(0, 2, events)
    means = np.where((years > 2010) == (arm == 1), 0.9, 0.1)
    return {
        "arm": [str(each) for each in arm],
        "reward": (rng.random(events) < means).astype(float),
        "probability": np.full(events, 0.5),
        "context_year": (years - 2010) / 6.0 if by_hand else years.astype(float),
    }


def test_a_policy_is_worth_as_much_on_years_as_on_numbers_made_alike_by_hand() -> None:
    values = [
        evaluate(log_of_years(by_hand=by_hand), "lin-ucb:scale=0.5", estimators=["snips"])["snips"]
        for by_hand in (False, True)
    ]
    assert values[0].value > 0.75
    assert values[0].value == pytest.approx(values[1].value, abs=0.02)


def test_missing_numbers_are_never_filled_with_the_future() -> None:
    """What comes later in a log changes no probability before."""
    rng, n = stream(4), 60
    x = rng.normal(size=n)
    x[::5] = np.nan
    arm, reward = rng.integers(0, 2, n), rng.random(n)
    tables = []
    for last in (1.0, 1e6):
        column = x.copy()
        column[-1] = last
        tables.append(
            {
                "arm": [str(each) for each in arm],
                "reward": reward,
                "probability": np.full(n, 0.5),
                "context_x": column.tolist(),
            }
        )
    policy = Policy.parse("lin-ts:scale=0.3")
    laws = [
        probabilities_in(policy, read_log(table), reward, votes=20, seed=1).probabilities
        for table in tables
    ]
    assert laws[0][:-1].tolist() == laws[1][:-1].tolist()
