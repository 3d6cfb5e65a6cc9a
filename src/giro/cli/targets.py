"""Where results go: refused before anything is computed if nothing can be written there."""

import os
from pathlib import Path

from giro.errors import BadParameter


def check_folder(folder: Path) -> None:
    """Make the folder if there is none, and refuse one that cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadParameter(f"no folder can be made at {folder}: {error.strerror}") from None
    if not os.access(folder, os.W_OK):
        raise BadParameter(f"nothing can be written to {folder}")


def check_figures(folder: Path) -> None:
    """Refuse a folder for figures that cannot be written to, or that nothing can draw."""
    import giro.plots as _  # noqa: F401, PLC0415  # quick start without matplotlib

    check_folder(folder)


def check_picture(path: Path) -> None:
    """Refuse a picture whose format is unknown or whose folder cannot be written to."""
    from giro.plots import check_format  # noqa: PLC0415  # quick start without matplotlib

    check_format(path)
    check_folder(path.parent)
