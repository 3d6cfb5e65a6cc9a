"""Compiled and plain Python fits have identical coefficients."""

import pytest
from contract.without_compiling import printed_by
from models.plain_fits import LONG_TO_COMPILE, ONLINE, fits

PLAIN = "import json; from models.plain_fits import fits; print(json.dumps(fits({})))"


@pytest.mark.parametrize(
    "online",
    [ONLINE, pytest.param(LONG_TO_COMPILE, marks=pytest.mark.slow)],
    ids=["quick", "trees"],
)
def test_compiled_and_plain_fits_are_equal_to_the_last_bit(online: tuple[str, ...]) -> None:
    found = fits(online)
    assert set(online) <= found.keys()
    assert printed_by(PLAIN.format(online)) == found
