"""Errors that giro raises on purpose.

GiroError
├── BadParameter   the function does not accept this value
│   ├── UnknownDecision   no decision has this id
│   └── Contradiction     a decision was asked for, or rewarded, in another way before
├── UnknownName    a name is not among the known ones
├── BadFile        a file cannot be read or written, or holds something else
├── StoreError     a store cannot be reached, read or written
├── ServiceError   a service cannot be reached, is not allowed to answer, or fails
└── MissingExtra   an optional package is not installed

When a model or a policy fails and giro goes on without it, it warns with ModelWarning, a
RuntimeWarning.
"""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class GiroError(Exception):
    """The base class of all errors that giro raises. The message names the way out, if any."""


class BadParameter(GiroError, ValueError):
    """The function does not accept this value."""


class UnknownDecision(BadParameter):
    """No decision has this id."""

    def __init__(self, id: object) -> None:
        """Name the id."""
        super().__init__(f"no decision has the id {id!r}")


class Contradiction(BadParameter):
    """A decision was asked for, or rewarded, in another way before."""

    def __init__(self, message: str, *, is_late: bool = False) -> None:
        """Say whether a reward came after its decision had expired."""
        super().__init__(message)
        self.is_late = is_late


class BadFile(GiroError):
    """A file cannot be read or written, or holds something else."""


class StoreError(GiroError):
    """A store cannot be reached, read or written.

    An event that was being appended may or may not have been stored.
    """


class ServiceError(GiroError):
    """A service cannot be reached, refuses the key, or fails.

    `status` is that of its answer, or None if there was none.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        """Take the sentence and the status."""
        super().__init__(message)
        self.status = status


class ModelWarning(RuntimeWarning):
    """A model or a policy failed and is left out until it works again. No data are lost."""


class UnknownName(GiroError, KeyError):
    """A name is not among the known ones. The message suggests the nearest.

    >>> str(UnknownName("policy", "gyro", known=["giro", "ucb1"]))
    "no policy is called 'gyro'; did you mean 'giro'? There are: giro, ucb1"
    """

    def __init__(self, kind: str, name: str, *, known: Iterable[str]) -> None:
        """Say that no `kind` is called `name`, and list the known names."""
        import difflib  # noqa: PLC0415  # quick start

        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean '{near[0]}'? There are: " if near else "; there are: "
        self.message = f"no {kind} is called '{name}'{hint}{', '.join(names)}"
        super().__init__(self.message)

    def __str__(self) -> str:
        """Return the message without the quotes that KeyError adds."""
        return self.message


def warn_of_model(message: str) -> None:
    """Warn of a failure of a policy or model that the bandit goes on without."""
    warnings.warn(ModelWarning(message), stacklevel=3)


class MissingExtra(GiroError, ImportError):
    """An optional package is not installed. The message says how to install it."""


@contextmanager
def needs_extra(what: str, package: str, *, extra: str) -> Iterator[None]:
    """Say how to install a package if its import fails.

    >>> with needs_extra("a figure", "matplotlibb", extra="plots"):
    ...     import matplotlibb
    Traceback (most recent call last):
    giro.errors.MissingExtra: a figure needs matplotlibb: pip install 'giro-bandits[plots]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        way_out = f"pip install 'giro-bandits[{extra}]'"
        raise MissingExtra(f"{what} needs {package}: {way_out}") from error
