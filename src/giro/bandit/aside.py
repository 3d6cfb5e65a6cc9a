"""Compile a policy in another process, once for all processes that share a cache folder.

A file beside the kernels says for which policies and forms of decisions that was done: the folder
belongs to one version of the kernels and one kind of processor, so the note is true as long as the
kernels are there. Whoever deletes the folder deletes both.
"""

import hashlib
import logging
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from giro.compiling.locks import alone
from giro.compiling.places import place

if TYPE_CHECKING:
    from giro.features import Schema

_LOGGER = logging.getLogger("giro")
_PROGRAM = "import os; os.nice(5); from giro.cli.main import main; main()"
_LOOKS = 0.2  # seconds between looks at `stop`
Form: TypeAlias = tuple[int, int]  # whether there are contexts, and features of arms
ALL_FORMS: Final[list[Form]] = [(context, arms) for arms in (0, 1) for context in (0, 1)]


def forms_of(schema: "Schema | None") -> list[Form]:
    """Return the form of decisions with this schema, or all while there is none."""
    if schema is None:
        return ALL_FORMS
    return [(int(schema.contextual), int(schema.arms is not None))]


def are_compiled(policy: str, forms: Sequence[Form]) -> bool:
    """Return whether this policy was compiled for decisions of these forms, by anybody."""
    folder = place().folder
    return folder is not None and all((folder / _note(policy, form)).exists() for form in forms)


def note_compiled(policy: str, form: Form) -> None:
    """Note that this policy is compiled for decisions of a form, or refuses them."""
    where = place()
    if where.folder is not None and where.writable:
        (where.folder / _note(policy, form)).touch()


def _note(policy: str, form: Form) -> Path:
    digest = hashlib.sha256(f"{policy} {form}".encode()).hexdigest()
    return Path(f"compiled-{digest[:24]}")


def compile_aside(policy: str, forms: Sequence[Form], stop: Callable[[], bool]) -> None:
    """Run `giro warm-up` for this policy, unless that was done or another process is at it."""
    where = place()
    if where.folder is None or not where.writable:
        return
    while not (stop() or are_compiled(policy, forms)):
        with alone(where.folder / "compiling-aside.lock", patience=_LOOKS) as is_mine:
            if is_mine and not are_compiled(policy, forms):
                return _run_warm_up(policy, forms, stop)


def _run_warm_up(policy: str, forms: Sequence[Form], stop: Callable[[], bool]) -> None:
    words = [sys.executable, "-c", _PROGRAM, "warm-up", policy]
    if len(forms) == 1:
        ((context, arms),) = forms
        words += ["--features", str(context), "--arm-features", str(arms)]
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while True:
        try:
            _, complaint = child.communicate(timeout=_LOOKS)
            break
        except subprocess.TimeoutExpired:
            if stop():
                child.kill()
    if child.returncode != 0 and not stop():
        _LOGGER.info("giro warm-up: %s", complaint.decode(errors="replace").strip())
