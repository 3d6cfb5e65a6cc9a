"""States are data: they grow, and are written down, without learning anything again.

A state is a named tuple of arrays, of numbers that never change, and of such tuples. The numbers
follow from the policy's parameters and the shape; only arrays hold what was learned. So a larger
state is a new one of the larger shape with every array of the old one copied into its corner, and
a state read from a file is a new one with every array copied whole.
"""

import operator
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from giro.errors import BadFile
from giro.offer import Shape
from giro.policy import Policy, start


def grow(policy: Policy, state: Any, shape: Shape, rng: np.random.Generator) -> Any:
    """Return a state of a larger shape that has learned the same.

    It plays on as if it had had this shape from the beginning, bit for bit. `rng` is at the place
    at which the first state's was when it started.
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


def _trimmed(state: Any) -> Any:
    """Return a tuple with what is in use of its arrays, where it can tell."""
    return state.trimmed() if hasattr(state, "trimmed") else state


def arrays_of(state: Any) -> dict[str, np.ndarray] | None:
    """Return every array of a state, as far as it is in use; None if it holds Python objects."""
    found: dict[str, np.ndarray] = {}
    for path, value in _leaves(state, trim=True):
        if isinstance(value, np.ndarray):
            found[path] = value
        elif isinstance(value, list):
            return None
    return found


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
    """Yield what a state holds with its path, such as "rows.rewards"."""
    if not isinstance(state, tuple):
        yield path, state
        return
    names = getattr(state, "_fields", None) or map(str, range(len(state)))
    for name, value in zip(names, _trimmed(state) if trim else state, strict=True):
        yield from _leaves(value, f"{path}.{name}" if path else name, trim=trim)
