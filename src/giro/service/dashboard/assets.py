"""Assets: the style, the script and the pictures of pages. All come with giro."""

import functools
import hashlib
from importlib import resources

from giro.service.endpoint import Answer
from giro.service.errors import Problem

_TYPES = {
    "dashboard.css": "text/css; charset=utf-8",
    "dashboard.js": "text/javascript; charset=utf-8",
    "uPlot.iife.min.js": "text/javascript; charset=utf-8",
    "uPlot.min.css": "text/css; charset=utf-8",
    "uPlot.LICENSE.txt": "text/plain; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_YEAR = 31_536_000  # seconds
_DIGITS = 10  # of a hash in an address


@functools.cache
def content(name: str) -> bytes:
    """Return the bytes of a file."""
    if name not in _TYPES:
        raise Problem(404, f"there is no file {name}")
    return resources.files("giro.service.dashboard").joinpath("assets", name).read_bytes()


@functools.cache
def address(name: str) -> str:
    """Return the address of a file, which changes when the file does."""
    return f"assets/{name}?v={hashlib.sha256(content(name)).hexdigest()[:_DIGITS]}"


def answer(name: str) -> Answer:
    """Return the answer with a file, which browsers may keep."""
    headers = {"cache-control": f"public, max-age={_YEAR}, immutable"}
    headers["x-content-type-options"] = "nosniff"
    return Answer(content(name), headers=headers, media_type=_TYPES[name])
