"""Show the examples of docstrings as code in the site's reference."""

import re
from typing import Any

from griffe import Extension, Object

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\n).*)*", re.MULTILINE)


def fenced(text: str) -> str:
    """Return a docstring with its examples in code blocks; an example ends at an empty line."""
    return EXAMPLE.sub(lambda example: f"```pycon\n{example[0]}\n```", text)


class Doctests(Extension):
    """Fences the examples of every docstring that the site shows."""

    def on_instance(self, *, obj: Object, **rest: Any) -> None:
        """Change the docstring as it is read, not the source."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
