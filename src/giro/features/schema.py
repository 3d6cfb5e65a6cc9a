"""Schema: how everything that is known of rounds and arms becomes numbers, as plain data.

A schema travels with a bandit, its log and its file. A policy is made from it
(`giro.live.LivePolicy`), so that all who have the same schema see the same: the columns of the
context and of the arm, which of them are multiplied, and which are standardised. It grows: names
that were never met get columns at the end, and nothing that was there changes its place.
"""

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from giro.errors import BadParameter
from giro.features.columns import Columns, Encoded, Feature, is_in
from giro.features.hashed import WHOLE, Hashed
from giro.features.messages import short
from giro.features.walk import Given, leaves, number_row
from giro.hashing import MOST_CROSSES
from giro.offer import MOST_PRODUCTS, NO_CONTEXT, NO_FEATURES

Arms: TypeAlias = Sequence[str] | Mapping[str, Given] | None  # names, or their features by name
MAX_COLUMNS = 2000  # of contexts, and of arms
OF_ARM = "a row of features"
_NOTHING = Columns()


class RawOffer(NamedTuple):
    """The rows of a round and its arms as given: neither filled nor standardised."""

    context: Any  # [column] NaN where a number is missing; or a `SparseRow`
    features: Any  # [i, column] of the arms; or `SparseRows`; shape (0, 0) without any
    new: tuple[tuple[Feature, ...], tuple[Feature, ...]] = ((), ())  # of contexts and arms


_NOTHING_KNOWN = RawOffer(NO_CONTEXT, NO_FEATURES)


class Schema(NamedTuple):
    """The encoding of contexts and features of arms as rows.

    `interactions` names what is multiplied, as `user*item`: first a part of the context, then one
    of the arm. A part is a feature, or a mapping with all that is in it, or everything: `context`
    and `arm`. None multiplies everything by everything. `steps` are the numbers of columns of
    contexts and arms that there were before each growth.
    """

    context: Columns | Hashed = _NOTHING
    arms: Columns | Hashed | None = None  # None if arms have no features
    interactions: tuple[str, ...] | None = None
    standardise: bool = True
    contextual: bool = False  # whether anything is known of rounds or arms
    max_columns: int = MAX_COLUMNS
    steps: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of_numbers(
        cls, n_columns: int = 0, n_arm_columns: int = 0, *, standardise: bool = True
    ) -> "Schema":
        """Return the schema of contexts, and features of arms, that are so many numbers."""
        arms = Columns(n_arm_columns, (), OF_ARM) if n_arm_columns else None
        contextual = n_columns + n_arm_columns > 0
        return cls(Columns(n_columns), arms, None, standardise, contextual)

    @classmethod
    def of_hashes(
        cls, interactions: tuple[str, ...] | None = None, *, standardise: bool = True
    ) -> "Schema":
        """Return the schema of features that are known by the hashes of their names."""
        rows = Hashed(interactions, standardise)
        return cls(rows, rows, interactions, standardise, contextual=True)

    @property
    def is_sparse(self) -> bool:
        """Whether rows are sparse and features known by codes."""
        return isinstance(self.context, Hashed)

    @property
    def widths(self) -> tuple[int, int]:
        """The numbers of columns of contexts and of features of arms.

        Both are 0 where features are hashed.
        """
        sides = (self.context, self.arms)
        n, m = (side.n_columns if isinstance(side, Columns) else 0 for side in sides)
        return n, m

    # -- encoding ----------------------------------------------------------------------------

    def encode(self, context: Given, arms: Mapping[str, Given] | Sequence[str] = ()) -> RawOffer:
        """Return the rows of a context and of these arms, in their order."""
        if isinstance(self.context, Hashed):
            return RawOffer(self.context.context(context), self.context.arms(arms))
        nothing = context is None and not self.contextual
        if nothing and (type(arms) is tuple or not isinstance(arms, Mapping)):
            return _NOTHING_KNOWN
        row = Encoded(NO_CONTEXT)
        if context is not None or self.context.n_columns:
            row = self.context.encode(context)
        if isinstance(self.arms, Columns):
            features, new = self._encode_arms(self.arms, arms)
            return RawOffer(row[0], features, (row[1], new))
        if isinstance(arms, Mapping):
            raise BadParameter("the arms of this bandit have no features: name them in a list")
        return RawOffer(row[0], NO_FEATURES, (row[1], ()))

    def contexts(self, contexts: Sequence[Given]) -> list[Any] | None:
        """Return the row of each context, None if one has features without columns."""
        columns = self.context
        if isinstance(columns, Hashed):
            return list(map(columns.context, contexts))
        if columns.n_given:
            return columns.rows(contexts)
        if not columns.n_columns and all(context is None for context in contexts):
            return [NO_CONTEXT] * len(contexts)
        rows = list(map(columns.encode, contexts))
        return None if any(row.new for row in rows) else [row.row for row in rows]

    @staticmethod
    def _encode_arms(
        columns: Columns, arms: Mapping[str, Given] | Sequence[str]
    ) -> tuple[np.ndarray, tuple[Feature, ...]]:
        if not isinstance(arms, Mapping):
            raise BadParameter(
                "every decision of this bandit needs features of its arms: "
                "give arms={name: features, ...}"
            )
        rows = [_encoded_arm(columns, name, features) for name, features in arms.items()]
        new = tuple({feature for row in rows for feature in row.new})
        return np.array([row.row for row in rows]), new

    # -- growing -----------------------------------------------------------------------------

    def grown(self, new: Sequence[Iterable[Feature]]) -> "Schema":
        """Return the schema with columns for new features of contexts and of arms.

        As far as there is room: `max_columns` is the most for each of the two.
        """
        context, arms = self.context, self.arms
        if isinstance(context, Columns):
            context = context.grown(new[0], self.max_columns)
        if isinstance(arms, Columns):
            arms = arms.grown(new[1], self.max_columns)
        if (context, arms) == (self.context, self.arms):
            return self
        steps = (*self.steps, self.widths)
        return self._replace(context=context, arms=arms, contextual=True, steps=steps)

    def lacks(self, new: Sequence[Iterable[Feature]]) -> bool:
        """Return whether a feature of contexts, or of arms, has no columns."""
        return any(
            isinstance(side, Columns) and side.lacks(features)
            for side, features in zip((self.context, self.arms), new, strict=True)
        )

    def upto(self, widths: tuple[int, int]) -> "Schema":
        """Return the schema as it was when rows had these widths."""
        if widths == self.widths or widths not in self.steps:
            return self
        context, arms = (
            side.upto(width) if isinstance(side, Columns) else side
            for side, width in zip((self.context, self.arms), widths, strict=True)
        )
        assert context is not None
        steps = self.steps[: self.steps.index(widths)]
        contextual = self.contextual and (sum(widths) > 0 or bool(steps))
        return self._replace(context=context, arms=arms, steps=steps, contextual=contextual)

    # -- translating -------------------------------------------------------------------------

    def translated(self, context: Any, features: Any, other: "Schema") -> tuple[Any, Any]:
        """Return rows that this schema has encoded as another schema has them, by their names."""
        if self.is_sparse or self == other:
            return context, features
        if isinstance(other.context, Hashed):
            names = [str(i) for i in range(features.shape[0])]
            if self.arms is None:
                return other.context.context(self._decoded(self.context, context)), features
            rows = dict(zip(names, (self._decoded(self.arms, r) for r in features), strict=True))
            return other.encode(self._decoded(self.context, context), rows)[:2]
        return (
            _translated(context, self.context, other.context),
            _translated(features, self.arms, other.arms),
        )

    @staticmethod
    def _decoded(columns: Any, row: np.ndarray) -> Given:
        return columns.decode(row) if columns.n_columns else None

    # -- what a policy sees ------------------------------------------------------------------

    @property
    def layout(self) -> tuple[tuple[int, int], ...]:
        """The columns of a regression: which of the context each is, times which of the arm.

        -1 stands for none, so that (-1, -1) is the constant. First those that the schema began
        with, and then those of each growth in turn.
        """
        columns: dict[tuple[int, int], None] = {}
        before = (0, 0)
        for widths in (*self.steps, self.widths):
            (n, m), (old_n, old_m) = widths, before
            columns |= dict.fromkeys((i, -1) for i in range(old_n, n))
            columns |= dict.fromkeys((-1, j) for j in range(old_m, m))
            columns |= dict.fromkeys(self._products(n, m))
            columns.setdefault((-1, -1))
            before = widths
        return tuple(columns)

    def _products(self, n: int, m: int) -> list[tuple[int, int]]:
        """Return which columns of the context and of the arm are multiplied, of the first ones."""
        if self.interactions is None:
            all_of_them = itertools.product(range(n), range(m))
            return list(all_of_them) if n * m <= MOST_PRODUCTS else []
        if not (isinstance(self.context, Columns) and isinstance(self.arms, Columns)):
            return []
        pairs = set[tuple[int, int]]()
        for text in self.interactions:
            left, right = text.split("*")
            of_context = (i for i in self.context.columns_in(left, WHOLE[0]) if i < n)
            of_arm = [j for j in self.arms.columns_in(right, WHOLE[1]) if j < m]
            pairs |= set(itertools.product(of_context, of_arm))
        return sorted(pairs)

    @property
    def standardised(self) -> tuple[np.ndarray, np.ndarray]:
        """Which columns of contexts, and of features of arms, are standardised."""
        sides = (self.context, self.arms)
        of_context, of_arms = (
            side.is_number & self.standardise if isinstance(side, Columns) else np.empty(0, bool)
            for side in sides
        )
        return of_context, of_arms

    # -- plain data --------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Return plain data from which `from_json` makes an equal schema."""
        plain: dict[str, Any] = {
            "interactions": self.interactions and list(self.interactions),
            "standardise": self.standardise,
        }
        if isinstance(self.context, Hashed):
            return plain | {"hashed": True}
        return plain | {
            "context": self.context.to_json(),
            "arms": self.arms.to_json() if isinstance(self.arms, Columns) else None,
            "contextual": self.contextual,
            "max_columns": self.max_columns,
            "steps": [list(step) for step in self.steps],
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Schema":
        """Return the schema described by plain data."""
        interactions = checked_interactions(plain["interactions"])
        standardise = bool(plain["standardise"])
        if plain.get("hashed"):
            return cls.of_hashes(interactions, standardise=standardise)
        arms = plain["arms"]
        return cls(
            Columns.from_json(plain["context"], "a context"),
            None if arms is None else Columns.from_json(arms, OF_ARM),
            interactions,
            standardise,
            bool(plain["contextual"]),
            int(plain["max_columns"]),
            tuple((int(n), int(m)) for n, m in plain["steps"]),
        )


def fitted(context: Given, arms: Arms, empty: Schema) -> Schema:
    """Return the schema of requests like this first one.

    All other parameters are those of `empty`. Columns of `empty` that were declared come first.
    """
    if empty.is_sparse:
        return empty
    columns = empty.context
    assert isinstance(columns, Columns)
    if context is not None and not isinstance(context, Mapping) and not columns.features:
        columns = Columns(number_row(context, columns.noun).size)
    schema = empty._replace(context=columns, contextual=empty.contextual or context is not None)
    if isinstance(arms, Mapping):
        schema = schema._replace(arms=_fitted_arms(arms), contextual=True)
    new = schema.encode(context, arms if isinstance(arms, Mapping) else ()).new
    return schema.grown(new)._replace(contextual=schema.contextual, steps=())


def check_fits(schema: Schema, contexts: Iterable[Given], arms: Arms) -> None:
    """Check that all of these requests can be encoded.

    Names may be new.
    """
    of_arms = arms if isinstance(arms, Mapping) else ()
    for context in contexts:
        schema.encode(context, of_arms)


def _fitted_arms(arms: Mapping[str, Given]) -> Columns:
    """Return columns for features of arms like these, without those of mappings."""
    for name, given in arms.items():
        if given is not None and not isinstance(given, Mapping):
            with named_arm(name):
                return Columns(number_row(given, OF_ARM).size, (), OF_ARM)
    mappings = (given for given in arms.values() if isinstance(given, Mapping))
    if not any(True for given in mappings for _ in leaves(given)):
        raise BadParameter("these arms have no features: give some, or name the arms in a list")
    return Columns(0, (), OF_ARM)


def _translated(rows: np.ndarray, own: Any, other: Any) -> np.ndarray:
    """Return rows with their columns where another schema has them."""
    if own is None or other is None or own == other or own.n_given:
        return rows
    result = np.tile(other.encode({}).row, (*rows.shape[:-1], 1))
    for begin, end in own.moved_to(other):
        column = rows[..., begin]
        is_there = ~np.isnan(column) & ((column != 0.0) | own.is_number[begin])
        result[..., end] = np.where(is_there, column, result[..., end])
    return result


def _encoded_arm(columns: Columns, name: str, features: Given) -> Encoded:
    if features is None or (isinstance(features, Mapping) and not features):
        return columns.missing()
    with named_arm(name):
        return columns.encode(features)


@contextlib.contextmanager
def named_arm(name: str) -> Iterator[None]:
    """Name the arm in an error of its features."""
    try:
        yield
    except BadParameter as error:
        raise BadParameter(f"arm '{name}': {error}") from None


def checked_interactions(given: Any) -> tuple[str, ...] | None:
    """Return interactions such as `user*item` without spaces, after checking their form."""
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise BadParameter(f"interactions is a list, as ['user*item'], got {short(given)}")
    for text in given:
        sides = text.split("*") if isinstance(text, str) else []
        if len(sides) != 2 or not all(map(str.strip, sides)):
            raise BadParameter(f"an interaction is written 'user*item', got {short(text)}")
    if len(given) > MOST_CROSSES:
        raise BadParameter(f"there can be {MOST_CROSSES} interactions, got {len(given)}")
    return tuple("*".join(part.strip() for part in text.split("*")) for text in given)


def absent_parts(schema: Schema, context: Given, arms: Arms) -> list[str]:
    """Return the parts of interactions that name nothing here. They may come later."""
    of_arms = arms.values() if isinstance(arms, Mapping) else ()
    names = (set(_names(context)), {name for given in of_arms for name in _names(given)})
    parts = [part for text in schema.interactions or () for part in enumerate(text.split("*"))]
    absent = (
        part
        for side, part in parts
        if part != WHOLE[side] and not any(is_in(name, part) for name in names[side])
    )
    return list(dict.fromkeys(absent))


def _names(given: Any) -> list[str]:
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [name for name, _ in leaves(given)]
    return [str(i) for i in range(len(given))]
