"""Memory that was freed goes back to the machine."""

import os
import platform
from pathlib import Path

import pytest

from giro.service.memory import give_back

PIECE = 50_000  # bytes: too few for pages of their own
MB = 200


def _resident() -> float:
    """Return the MB of memory that this process has."""
    pages = Path("/proc/self/statm").read_text("utf-8").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries differ")
def test_what_lies_between_pieces_that_are_used_is_given_back() -> None:
    pieces = [bytearray(PIECE) for _ in range(MB * 1_000_000 // PIECE)]
    used = pieces[::50]
    full = _resident()
    del pieces
    give_back()
    assert _resident() < full - 0.8 * MB
    assert len(used) == MB * 20_000 // PIECE


def test_where_the_c_library_cannot_do_that_nothing_happens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda _: object())
    give_back()
