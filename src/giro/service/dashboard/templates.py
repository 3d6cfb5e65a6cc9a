"""Templates: pages from their contents, with everything escaped."""

import functools
import time
from typing import Any
from urllib.parse import urlencode

import jinja2

import giro
from giro.service.dashboard import assets, formats

_FILTERS = (
    "count",
    "number",
    "interval",
    "signed",
    "percent",
    "duration",
    "exact",
    "machine",
    "sentence",
)


@functools.cache
def environment() -> jinja2.Environment:
    """Return the environment of all templates. A name that is not given is an error."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("giro.service.dashboard"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {name: getattr(formats, name) for name in _FILTERS}
    made.globals |= {"link": link, "asset": assets.address, "version": giro.__version__}
    return made


def link(path: str, /, **parameters: Any) -> str:
    """Return the address of a page beside this one.

    >>> link("bandit", name='a "b" & c/d', page=None)
    'bandit?name=a+%22b%22+%26+c%2Fd'
    """
    given = {key: value for key, value in parameters.items() if value is not None}
    query = urlencode(given, errors="replace")
    return f"{path}?{query}" if query else path


def html(template: str, **content: Any) -> bytes:
    """Return a page as bytes. Lone surrogates in names become question marks."""
    now = time.time()
    text = (
        environment()
        .get_template(f"{template}.html")
        .render(now=now, ago=lambda at: formats.ago(at, now), **content)
    )
    return text.encode("utf-8", "replace")
