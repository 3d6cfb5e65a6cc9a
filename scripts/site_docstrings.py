"""Docstrings as the reference shows them: examples as code, nothing of `__init__`."""

import re
from typing import Any

from griffe import Extension, Object

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\n).*)*", re.MULTILINE)


def fenced(text: str) -> str:
    """Return a docstring with its examples in code blocks; an example ends at an empty line."""
    return EXAMPLE.sub(lambda example: f"```pycon\n{example[0]}\n```", text)


class Docstrings(Extension):
    """Changes docstrings as they are read, not the source."""

    def on_instance(self, *, obj: Object, **rest: Any) -> None:
        """Fence examples; leave out what `__init__` says, since the class says what it takes."""
        if obj.name == "__init__":
            obj.docstring = None
        elif obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
