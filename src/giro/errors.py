"""What giro raises on purpose.

GiroError
├── BadParameter   a value is outside what the function accepts
├── UnknownName    a name is not among the known ones
├── BadFile        a file cannot be read as what it should be
├── StoreError     a store cannot be reached, read or written
└── MissingExtra   a package is not installed that only some features need

It warns with ModelWarning, a RuntimeWarning, where a model or policy fails and it goes on without.
"""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class GiroError(Exception):
    """Anything giro refuses; the message says what was expected and what came."""


class BadParameter(GiroError, ValueError):
    """A value is outside what the function accepts."""


class BadFile(GiroError):
    """A file cannot be read as what it should be."""


class StoreError(GiroError):
    """A store cannot be reached, read or written; what was being appended may be there or not."""


class ModelWarning(RuntimeWarning):
    """A model or a policy failed; it is left out until it works, and nothing is lost."""


class UnknownName(GiroError, KeyError):
    """A name is not among the known ones; the message suggests the nearest.

    >>> str(UnknownName("policy", "gyro", known=["giro", "ucb1"]))
    "no policy is called 'gyro'; did you mean 'giro'? There are: giro, ucb1"
    """

    def __init__(self, kind: str, name: str, *, known: Iterable[str]) -> None:
        """Say that no `kind` is called `name`, and which ones there are."""
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
    """A package is not installed that only some features need; the message says how to get it."""


@contextmanager
def needs_extra(what: str, package: str, *, extra: str) -> Iterator[None]:
    """Say how to install a package where its import fails.

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
