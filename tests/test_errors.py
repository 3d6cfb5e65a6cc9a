"""Errors say what was wanted, what came, and the way out."""

import pytest

from giro import (
    BadFile,
    BadParameter,
    GiroError,
    MissingExtra,
    ModelWarning,
    StoreError,
    UnknownName,
)


@pytest.mark.parametrize("error", [BadParameter, BadFile, UnknownName, StoreError, MissingExtra])
def test_every_error_raised_on_purpose_is_a_giro_error(error: type[Exception]) -> None:
    assert issubclass(error, GiroError)


def test_errors_can_be_caught_as_what_python_would_raise() -> None:
    assert issubclass(BadParameter, ValueError)
    assert issubclass(UnknownName, KeyError)
    assert issubclass(MissingExtra, ImportError)
    assert issubclass(ModelWarning, RuntimeWarning)


def test_an_unknown_name_suggests_the_nearest_known_one() -> None:
    error = UnknownName("policy", "thomson", known=["ucb1", "thompson"])
    assert str(error) == (
        "no policy is called 'thomson'; did you mean 'thompson'? There are: thompson, ucb1"
    )


def test_an_unknown_name_like_no_other_only_lists_what_there_is() -> None:
    assert str(UnknownName("policy", "xyz", known=["b", "a"])) == (
        "no policy is called 'xyz'; there are: a, b"
    )
