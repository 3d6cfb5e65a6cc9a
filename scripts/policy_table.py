"""Write the table of policies into the README, from the policies themselves."""

import re
from pathlib import Path

from giro import Policy
from giro.named import defaults, summary, text_of

README = Path(__file__).parents[1] / "README.md"
BETWEEN = re.compile(r"(<!-- policies:.*?-->\n).*?(<!-- end of policies -->)", re.DOTALL)


def row(cls: type[Policy]) -> str:
    """Return a policy as a row of the table."""
    shown = (
        key if value is ... else f"{key}={text_of(value)}" for key, value in defaults(cls).items()
    )
    cells = (f"`{cls.name}`", ", ".join(f"`{text}`" for text in shown), summary(cls), cls.source)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def table() -> str:
    """Return all policies as a table in Markdown."""
    head = "| policy | parameters | what it does | source |\n| --- | --- | --- | --- |"
    return "\n".join([head, *map(row, Policy.known().values())]) + "\n"


if __name__ == "__main__":
    README.write_text(BETWEEN.sub(lambda match: match[1] + table() + match[2], README.read_text()))
