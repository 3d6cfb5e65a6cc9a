"""Policy: parameters, and functions of a state, which is data.

A state is a named tuple of arrays, of numbers that never change, and of such tuples. The numbers
follow from the policy's parameters and the shape; only arrays hold what was learned. So a larger
state is a new one of the larger shape with every array of the old one copied into its corner
(`grow`), and a state read from a file is a new one with every array copied whole (`restored`).
A part of a state for which zeros, or a new state's numbers, are not what a column that was 0 in all
rows would have left there has a method `widened`.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from giro.compiling import bind, dispatched, dispatched_call, in_python, is_kernel, plain
from giro.errors import BadFile, BadParameter
from giro.kernels.memory import check_memory
from giro.named import Named
from giro.offer import Case, Context, Offer, Shape

__all__ = [
    "Case",
    "Context",
    "Functions",
    "Offer",
    "Policy",
    "Scores",
    "Shape",
    "arrays_of",
    "chances_of",
    "choose",
    "copied",
    "functions_for",
    "grow",
    "learn",
    "propensities",
    "race_of",
    "restored",
    "start",
    "write_scores",
]

State: TypeAlias = NamedTuple  # arrays that change and parameters that do not


class Scores(NamedTuple):
    """The two halves of `propensities`, of a policy that looks at each arm for itself.

    A ranking needs the first once, and the second for each of its slots.
    """

    columns: int
    write: Callable[..., None]  # (state, offer, out): into out[i, column] what is known of arm i
    chances: Callable[..., np.ndarray]  # (state, arms, scores): the probability of each arm, [i]


class Functions(NamedTuple):
    """The functions of a policy's state."""

    choose: Callable[..., int]
    learn: Callable[..., None]
    propensities: Callable[..., np.ndarray] | None  # see `Policy.propensities`
    scores: Scores | None = None
    race: Callable[..., Any] | None = None  # see `Policy.race`

    @property
    def compiled(self) -> bool:
        """Whether loops that choose and learn can be compiled."""
        return is_kernel(self.choose) and is_kernel(self.learn)

    @property
    def in_python(self) -> "Functions":
        """The same for states that hold Python objects."""
        exact, scores = self.propensities, self.scores
        if scores is not None:
            scores = Scores(scores.columns, plain(scores.write), plain(scores.chances))
        exact = None if exact is None else plain(exact)
        race = None if self.race is None else plain(self.race)
        return Functions(plain(self.choose), plain(self.learn), exact, scores, race)


class Policy(Named, kind="policy", home="giro.policies"):
    """Parameters of a policy, and how it starts, chooses and learns.

    A subclass is a frozen dataclass with a name, `class Giro(Policy, name="giro")`. Its fields are
    the parameters. `start` makes the state of one run; `choose` and `learn` are functions of that
    state, kernels where they compile and plain Python where they do not. A state is a named tuple
    of arrays (and of such tuples) and of numbers that never change; each policy has its own
    state class. A policy never keeps a generator or anything else that changes.
    """

    source: ClassVar[str] = ""  # author, year and numbered thing, shown by `giro policies`

    propensities: ClassVar[Any] = None
    """The exact probabilities of `choose`, if known: a static function (state, offer) -> [i].

    There is one for each arm on offer. The function draws nothing and changes nothing. Where it
    does not know them, it returns an empty array, and `has_propensities` says so beforehand. It
    should be a kernel, because a bandit asks with every decision, but a plain function works, too.
    """

    race: ClassVar[Any] = None
    """What `propensities` of all slots of a ranking share: a static function (state, offer, slots).

    It is for policies whose arms draw values by themselves, and returns what
    `kernels.highest.slots.chances_left` knows.
    """

    uses_contexts: bool = True
    """Whether contexts can change choices. If False, `Bandit` warns when it is given one."""

    uses_arm_features: ClassVar[bool] = False
    """Whether the policy takes offers with features of arms, and learns one model of all arms."""

    hashes_features: bool = False
    """Whether the policy takes sparse rows of features that have names instead of columns."""

    needs_rounds: bool = False
    """Whether the `rounds` given to `start` are a plan that changes choices."""

    prefers_untried: bool = True
    """Whether an arm may get every decision while its first reward is under way.

    A bandit then holds such an arm back after some decisions. False if rewards change nothing.
    """

    learns_from_offers: bool = False
    """Whether `learn` looks at all arms that were on offer: then the case has its offer."""

    learns_aside: bool = False
    """Whether learning takes so long that bandits decide meanwhile, by a copy of the state."""

    compiles: bool = True
    """Whether compiled loops can use a state. False with a model in Python."""

    choose_mutates_state: bool = False
    """Whether `choose` leaves something in the state that changes the draws of later choices.

    Such a state depends on the choices made, and not only on the rewards: a replay that has to end
    in the same state, bit for bit, repeats both.
    """

    window: int | None = None  # fields of those that forget, of which at most one is given
    half_life: float | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        check_memory(self.name, window=self.window, half_life=self.half_life)

    def start(self, shape: Shape, rng: np.random.Generator) -> Any:
        """Return the state before the first round.

        What is drawn here does not depend on the capacity, and on the number of arms only in so
        far as more arms draw more: first what all arms share, then arm by arm. So a larger state
        begins like a smaller one, which is what lets states grow (see `grow`).
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how it starts")

    @staticmethod
    def choose(state: Any, offer: Offer, rng: np.random.Generator) -> int:
        """Return the arm to pull, one of `offer.arms`."""
        raise NotImplementedError("a policy says how it chooses")

    @staticmethod
    def learn(state: Any, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
        """Take in the reward of a pulled arm, given the features with which it was chosen."""
        raise NotImplementedError("a policy says how it learns")

    def resolved(self, *, contextual: bool) -> "Policy":
        """Return the policy that plays, given whether anything is known of rounds or arms.

        It is the policy itself, but for one that stands for others.
        """
        return self

    def functions(self) -> Functions:
        """Return the functions of the state that `start` makes.

        The simulator, the bandit and the evaluation all ask here, and here alone.
        """
        cls = type(self)
        functions = Functions(cls.choose, cls.learn, cls.propensities, race=cls.race)
        return functions if self.compiles else functions.in_python

    def most_rewards(self, shape: Shape) -> int | None:
        """Return the capacity beyond which a state of this shape does not grow.

        None where it may hold any number of rewards.
        """
        return None

    def has_propensities(self, *, binary: bool, shared: bool) -> bool:
        """Return whether `propensities` knows the probabilities of the next choice.

        `binary` says that all rewards so far were 0 or 1, `shared` that arms have features.
        """
        return self.functions().propensities is not None


@dispatched
def choose(state: Any, offer: Offer, rng: np.random.Generator) -> int:
    """Return the arm that the policy of this state pulls."""
    raise TypeError("replaced by dispatch")


@dispatched
def learn(state: Any, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    """Take in a reward, as the policy of this state does."""
    raise TypeError("replaced by dispatch")


@dispatched_call
def propensities(state: Any, offer: Offer) -> np.ndarray:
    """Return the probability of each arm on offer, if the policy of this state knows it.

    See `Policy.propensities`.
    """
    raise TypeError("replaced by dispatch")


@dispatched_call
def write_scores(state: Any, offer: Offer, out: np.ndarray) -> None:
    """Write the scores of the arms on offer, see `Scores`."""
    raise TypeError("replaced by dispatch")


@dispatched_call
def chances_of(state: Any, arms: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return the probability of each of these arms, whose scores were written before."""
    raise TypeError("replaced by dispatch")


@dispatched_call
def race_of(state: Any, offer: Offer, slots: int) -> Any:
    """Return the part of a ranking that all slots share, see `Policy.race`."""
    raise TypeError("replaced by dispatch")


def functions_for(policy: Policy, shape: Shape) -> Functions:
    """Return the functions of a policy's state of this shape."""
    return policy.resolved(contextual=shape.contextual).functions()


def policies_with_arm_features() -> list[str]:
    """Return the policies that learn from features of arms, in alphabetical order.

    They are written as `greedy:model=...` where that depends on parameters.
    """
    return [
        f"{name}:model=..." if isinstance(cls.uses_arm_features, property) else name
        for name, cls in Policy.known().items()
        if cls.uses_arm_features and cls.uses_contexts
    ]


def policies_that_hash() -> list[str]:
    """Return the names of policies that take hashed features with `model=hashed`."""
    return [name for name, cls in Policy.known().items() if cls.hashes_features]


def start(policy: Policy, shape: Shape, rng: np.random.Generator) -> Any:
    """Return the policy's first state, ready for `choose` and `learn`."""
    if shape.n_arm_features > 0 and not policy.uses_arm_features:
        able = ", ".join(policies_with_arm_features())
        raise BadParameter(f"{policy} cannot use features of arms; policies that can: {able}")
    policy = policy.resolved(contextual=shape.contextual)
    if shape.sparse and not policy.hashes_features:
        raise BadParameter(
            f"{policy} needs features in fixed columns, and here they are hashed; policies that "
            f"take them with model=hashed: {', '.join(policies_that_hash())}"
        )
    state = policy.start(shape, rng)
    if not policy.compiles:
        state = in_python(type(state))(*state)
    functions = policy.functions()
    bind(choose, type(state), functions.choose)
    bind(learn, type(state), functions.learn)
    if functions.propensities is not None:
        bind(propensities, type(state), functions.propensities)
    if functions.scores is not None:
        bind(write_scores, type(state), functions.scores.write)
        bind(chances_of, type(state), functions.scores.chances)
    if functions.race is not None:
        bind(race_of, type(state), functions.race)
    return state


def grow(policy: Policy, state: Any, shape: Shape, rng: np.random.Generator) -> Any:
    """Return a state of a larger shape that has learned the same.

    It plays on as if it had had this shape from the beginning, bit for bit; columns of a regression
    that are new were 0 until now. `rng` is at the place at which the first state's was when it
    started.
    """
    larger = start(policy, shape, rng)
    _copy(state, larger)
    return larger


def _copy(old: Any, new: Any) -> None:
    """Copy all arrays of `old` into the corners of those of `new`."""
    if isinstance(old, np.ndarray):
        new[tuple(slice(size) for size in old.shape)] = old
    elif isinstance(old, list):  # of what is not data, such as fitted scikit-learn models
        new[: len(old)] = old
    elif isinstance(old, tuple):
        for before, after in zip(_trimmed(old), new, strict=True):
            _copy(before, after)
        if hasattr(new, "widened"):
            new.widened(old)


def _trimmed(state: Any) -> Any:
    """Return a tuple without unused room in its arrays, where it knows how much that is."""
    return state.trimmed() if hasattr(state, "trimmed") else state


def copied(state: Any) -> Any:
    """Return a state with arrays and lists of its own. Objects in lists are not copied."""
    if isinstance(state, np.ndarray | list):
        return state.copy()
    return type(state)(*map(copied, state)) if hasattr(state, "_fields") else state


def arrays_of(state: Any) -> dict[str, np.ndarray] | None:
    """Return the used part of every array of a state, or None if it holds Python objects."""
    arrays: dict[str, np.ndarray] = {}
    for path, value in _leaves(state, trim=True):
        if isinstance(value, np.ndarray):
            arrays[path] = value
        elif isinstance(value, list):
            return None
    return arrays


def restored(
    policy: Policy, shape: Shape, arrays: Mapping[str, np.ndarray], rng: np.random.Generator
) -> Any:
    """Return the state whose arrays `arrays_of` returned."""
    state = start(policy, shape, rng)
    own = {path: leaf for path, leaf in _leaves(state) if isinstance(leaf, np.ndarray)}
    if own.keys() != arrays.keys():
        raise BadFile(f"a state of {policy} does not have these arrays")
    for path, array in own.items():
        kept = arrays[path]
        fits = kept.ndim == array.ndim and all(map(operator.le, kept.shape, array.shape))
        if not fits or kept.dtype != array.dtype:
            raise BadFile(f"array {path} of {policy} does not fit: {kept.shape}, {kept.dtype}")
        _copy(kept, array)
    in_use = arrays_of(state) or {}
    if any(array.shape != arrays[path].shape for path, array in in_use.items()):
        raise BadFile(f"arrays of {policy} are longer or shorter than they say")
    return state


def _leaves(state: Any, path: str = "", *, trim: bool = False) -> Iterator[tuple[str, Any]]:
    """Yield every part of a state with its path, such as "rows.rewards"."""
    if not isinstance(state, tuple):
        yield path, state
        return
    names = getattr(state, "_fields", None) or map(str, range(len(state)))
    for name, value in zip(names, _trimmed(state) if trim else state, strict=True):
        yield from _leaves(value, f"{path}.{name}" if path else name, trim=trim)
