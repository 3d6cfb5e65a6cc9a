"""Every registered policy and problem, ready to play: a new file in policies/ is found here."""

import functools
import re
import typing
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import films  # noqa: F401  # the problem movielens finds them
import numpy as np
import pytest

from giro import Policy, Problem
from giro.named import Named, defaults, has_text
from giro.policies.randomized import Randomized
from giro.problems import Classification


def bootstrap_mean(history: np.ndarray, rng: np.random.Generator) -> float:
    return float(history[rng.integers(0, history.size, history.size)].mean())


# policies whose parameters cannot be written as text, and so cannot be tried without help
FROM_PYTHON: dict[str, Callable[[], Policy]] = {"randomized": lambda: Randomized(bootstrap_mean)}

# problems that cannot be made without parameters, or are large: they are among the others below
NEEDS_TEXT = ("delayed", "news", "sleeping", "switching")

# values that take another way through a policy than its defaults
ALSO = (
    "giro:a=1/3",
    "giro:a=0",
    "epsilon-greedy:epsilon=0.1",
    "epsilon-greedy:b=5",
    "giro:window=12",  # the others that forget: tests/kernels/test_memory.py
    "thompson:half_life=7",
    "ucb1:window=12",
    "lin-ucb:half_life=7",
    "lin-ts:window=12",
    "rand-ucb:half_life=7",
    "giro-ensemble:replicas=3,window=12",
    "giro-ensemble:replicas=3,weights=double",
    "epsilon-greedy:b=5,half_life=7",
)


# the same policies with models that follow their history in other ways; few, as each is compiled
WITH_MODELS = (
    "contextual-giro:model=logistic",
    "epsilon-greedy:epsilon=0.1,model=online-logistic",
    "giro-ensemble:model=[hashed:bits=10],replicas=3",
    "squarecb:model=[hashed:bits=10],half_life=7",
    "squarecb:model=[hashed:bits=10],window=12",
    "cover:model=linear",
)
SLOW_WITH_MODELS = (  # the default has a network and trees, too
    "contextual-giro:model=network",
    "epsilon-greedy:epsilon=0.1,model=linear-sgd",
    "giro-ensemble:model=tree,replicas=2",
    "giro-ensemble:model=[hashed:bits=10],replicas=3,window=12",
    "epsilon-greedy:epsilon=0.1,model=logistic,window=12",
    "rand-ucb:model=auto,half_life=7",
    "rand-ucb:model=auto,window=12",
)

# the simulator's loop takes a second or more to compile: quick tests do so for policies of each
# kind of state and draws, slow ones for all; in steps, which share their kernels, all of them play
QUICK_IN_LOOPS = (
    "default",
    "giro:a=0",
    "giro:a=1",
    "giro:a=1/3",
    "giro-ensemble:a=0.3,model=[hashed:bits=10],replicas=3",
    "giro-ensemble:a=0.3,model=linear,replicas=50",
    "lin-ucb",
    "randomized:draw=bootstrap_mean",  # never compiled
    "thompson",
    "ucb1",
    "uniform",
)


def is_slow_in_loops(policy: Policy) -> bool:
    """Tell whether only slow tests compile the simulator's loop for a policy."""
    return re.sub("[:,]ties=.*", "", str(policy)) not in QUICK_IN_LOOPS


def policies_with_models() -> list[Policy]:
    """Return policies with models other than the default; some are judged by slow tests only."""
    return list(map(Policy.parse, (*WITH_MODELS, *SLOW_WITH_MODELS)))


def marks_of(policy: Policy) -> Any:
    """Return the mark of policies that only slow tests judge."""
    return pytest.mark.slow if policy in _slow() else ()


@functools.cache
def _slow() -> frozenset[Policy]:
    return frozenset(map(Policy.parse, SLOW_WITH_MODELS))


def each(policies: Iterable[Policy]) -> Any:
    """Let a test judge each of these policies."""
    judged = [pytest.param(policy, id=str(policy), marks=marks_of(policy)) for policy in policies]
    return pytest.mark.parametrize("policy", judged)


# large by default: in plain Python smaller ones do
SMALLER = {
    "cover": Policy.parse("cover:model=[hashed:bits=10]"),
    "online-bootstrap": Policy.parse("online-bootstrap:replicas=50"),
    "squarecb": Policy.parse("squarecb:model=[hashed:bits=10]"),
}


# states of which others have the same kind
ALIKE = (
    "bootstrap-thompson:weights=exponential",
    "giro:a=0",
    "weighted-bootstrap:weights=additive",
    "weighted-bootstrap:weights=gaussian",
)


def policies_in_bandits() -> list[Policy]:
    """Return policies that differ in what they keep of their past, also with other models."""
    found = [p for p in policies() if "ties=" not in str(p) and str(p) not in ALIKE]
    return [*(SMALLER.get(policy.name, policy) for policy in found), *policies_with_models()]


def policies() -> list[Policy]:
    """Return each policy with its defaults, and again with every other word it accepts."""
    found = [policy for name in Policy.known() for policy in _variants(name)]
    return [*found, *map(Policy.parse, ALSO)]


# what every policy plays: each kind of rewards, without contexts and with them; some arms asleep;
# arms with features, which only some policies can use
IN_CONTEXT = "linear:n_arms=3,dimension=4"
OF_ARMS = "linear:n_arms=3,dimension=4,shared=true"
SWITCHING = "switching:first=[bernoulli:means=[0.7,0.4]],second=[beta:means=[0.3,0.6]],at=60"
DELAYED = "delayed:problem=[linear:n_arms=3,dimension=2],lag=7,delay=random"
NEWS = "news:n_arms=9,on_offer=4,lifetime=6,topics=3,kinds=2,drift=0.5"
NUMBERED = NEWS + ",spread=1.5,constant=-4,ids=true"
PLAYED = (
    "bernoulli",
    "beta",
    "discrete",
    IN_CONTEXT,
    "sleeping:problem=[bernoulli:n_arms=3]",
    OF_ARMS,
)


def problems() -> list[Problem]:
    """Return the problems that every policy is tried on."""
    return [Problem.parse(text) for text in PLAYED]


def problems_for(policy: Policy) -> list[Problem]:
    """Return those that a policy can play; how ties are broken shows on the first."""
    found = [problem for problem in problems() if can_play(policy, problem)]
    return found[:1] if "ties=" in str(policy) else found


def can_play(policy: Policy, problem: Problem) -> bool:
    """Tell whether the policy takes what the problem offers."""
    return policy.uses_arm_features or problem.n_arm_features == 0


def all_problems() -> list[Problem]:
    """Return each problem with its defaults, and again with what takes another way through it."""
    also = (
        "linear:n_arms=3,dimension=4,v=4",
        "logistic:n_arms=2,dimension=1,strength=0.5",
        "linear:n_arms=3,dimension=4,shared=true",
        "logistic:n_arms=4,dimension=2,shared=true",
        "sleeping:problem=[bernoulli:n_arms=3]",
        "sleeping:problem=[linear:n_arms=4,dimension=2,v=4],awake=0.3",
        "sleeping:problem=[linear:n_arms=4,dimension=2,shared=true],awake=1",
        "movielens:ids=false",
        NEWS,
        NUMBERED,
        SWITCHING,
        DELAYED,
        "switching:first=[logistic:n_arms=3,dimension=2],second=[linear:n_arms=3,dimension=2],at=9",
    )
    texts = (*(name for name in Problem.known() if name not in NEEDS_TEXT), *also)
    return [*map(Problem.parse, texts), five_flowers()]


# problems with features of arms, in one array and in sparse rows, that a loop is compiled for with
# a policy that looks at them
LOOKED_AT = (OF_ARMS, "movielens:ids=true")


def one_for(problem: Problem) -> Policy:
    """Return the policy that plays a problem in loops: one that is compiled soon."""
    return Policy.parse("lin-ucb" if str(problem) in LOOKED_AT else "uniform")


def in_loops() -> list[tuple[Policy, Problem]]:
    """Return the pairs for which the simulator's loop is compiled: a cross of the two.

    Every policy on the first problem, models on one with contexts, and every problem by a policy
    that takes it. Slow ones are among them.
    """
    first, in_context = map(Problem.parse, (PLAYED[0], IN_CONTEXT))
    found = [(policy, first) for policy in policies()]
    found += [(policy, in_context) for policy in policies_with_models()]
    found += [(one_for(problem), problem) for problem in all_problems()]
    return list({f"{policy} on {problem}": (policy, problem) for policy, problem in found}.values())


def five_flowers() -> Classification:
    """Return a tiny problem with labels of words, made from arrays."""
    widths = [[0.2, 7.0], [1.3, 7.0], [2.1, 7.0], [0.3, 7.0], [1.5, 7.0]]
    return Classification.from_arrays(widths, ["rose", "tulip", "aster", "rose", "tulip"])


def _variants(name: str) -> Iterator[Policy]:
    cls = Policy.known()[name]
    if not has_text(cls):
        yield FROM_PYTHON[name]()
        return
    yield Policy.parse(name)
    for key, word in _other_words(cls):
        yield Policy.parse(f"{name}:{key}={word}")


def _other_words(cls: type[Named]) -> Iterator[tuple[str, str]]:
    """Yield (parameter, word) for parameters that are one of a few words, as ties=fixed."""
    for key, hint in typing.get_type_hints(cls).items():
        if typing.get_origin(hint) is typing.Literal and key in defaults(cls):
            words = (word for word in typing.get_args(hint) if word != defaults(cls)[key])
            yield from ((key, word) for word in words)
