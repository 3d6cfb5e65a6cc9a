"""Run the code of pages, and write into them what it prints and draws.

The Python blocks of a page run in order, in one namespace and in one folder. A `text` block right
after a Python block is what that block prints; in a `console` block, lines after `$ giro ...` are
what the command prints. A picture of docs/pictures/ that the code saves under the same name is the
code's own.

`python scripts/pages.py` makes the outputs and pictures of all pages again; tests/test_pages.py
compares them.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from giro.cli.main import status_of

DOCS = Path(__file__).parents[1] / "docs"
PICTURES = DOCS / "pictures"
TESTED_ELSEWHERE = {  # by their own tests
    "client.md",
    "evaluation.md",
    "quickstart.md",
    "scaling.md",
    "usage.md",
}
BLOCK = re.compile(
    r"^```(?:python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<shown>.*?)^```\n)?"
    r"|console\n(?P<console>.*?)^```\n)",
    re.DOTALL | re.MULTILINE,
)
SPEED = re.compile(r"(?<=%) +(rounds/s|[\d,]+)$", re.MULTILINE)  # the column that differs each time
VERSION = re.compile(r"(?<=giro )\d\S*$", re.MULTILINE)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


class Ran(NamedTuple):
    """A block that ran: where it stands in the page, what is shown there, and what came."""

    start: int
    end: int
    code: str
    shown: str | None  # None: no output is shown
    printed: str


def pages() -> list[Path]:
    """Return the pages whose code runs here."""
    return [page for page in sorted(DOCS.rglob("*.md")) if page.name not in TESTED_ELSEWHERE]


def run_page(page: Path, folder: Path) -> list[Ran]:
    """Run all blocks of a page in a folder."""
    names: dict[str, object] = {"__name__": "__main__"}
    with contextlib.chdir(folder):
        return [
            ran
            for block in BLOCK.finditer(page.read_text("utf-8"))
            for ran in (
                _consoles(block) if block["console"] is not None else [_python(block, names, page)]
            )
        ]


def pictures_of(page: Path, folder: Path) -> Iterator[tuple[Path, Path]]:
    """Return pictures that the page shows and its code made in a folder: (shown, made)."""
    for name in re.findall(r"\]\((\S+\.(?:png|svg))\)", page.read_text("utf-8")):
        shown = (page.parent / name).resolve()
        if shown.parent == PICTURES and (folder / shown.name).exists():
            yield shown, folder / shown.name


def is_shown(ran: Ran) -> bool:
    """Tell whether a block shows what it prints; `...` stands for anything."""
    return doctest.OutputChecker().check_output(ran.shown or "", ran.printed, doctest.ELLIPSIS)


def _python(block: re.Match[str], names: dict[str, object], page: Path) -> Ran:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(block["code"], str(page), "exec"), names)
    start, end = block.span("shown") if block["shown"] is not None else (block.end(), block.end())
    return Ran(start, end, block["code"], block["shown"], out.getvalue())


def _consoles(block: re.Match[str]) -> Iterator[Ran]:
    for command in COMMAND.finditer(block["console"]):
        program, *words = shlex.split(command[1])
        if program != "giro":
            raise ValueError(f"a console block runs giro, got {command[1]!r}")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            status = status_of(words)
        if status != 0:
            raise RuntimeError(f"{command[1]!r} ended with status {status}")
        start, end = (block.start("console") + place for place in command.span(2))
        yield Ran(start, end, command[1], command[2], _steady(out.getvalue()))


def _steady(printed: str) -> str:
    """Return an output without what differs from run to run."""
    held = SPEED.sub(lambda cell: f"{cell[1] if cell[1] == 'rounds/s' else '...':>11}", printed)
    return VERSION.sub("...", held)


def write(page: Path) -> None:
    """Make the outputs of a page and its pictures again."""
    with tempfile.TemporaryDirectory() as folder:
        text = page.read_text("utf-8")
        for ran in reversed(run_page(page, Path(folder))):
            if ran.shown is not None and not is_shown(ran):
                text = text[: ran.start] + ran.printed + text[ran.end :]
        page.write_text(text, "utf-8")
        for shown, made in pictures_of(page, Path(folder)):
            shutil.copyfile(made, shown)


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "100")
    for each in pages():
        write(each)
