"""A PostgreSQL server of the tests' own: in a folder, on a unix socket, stopped at the end."""

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

_FOLDERS = ("/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt/postgresql")
_STARTED: dict[str, str] = {}
_COMMANDS: dict[str, Callable[[], None]] = {}


def pull_the_plug() -> None:
    """Let the server die as by a crash."""
    _COMMANDS["stop"]()


def start_again() -> None:
    """Start it again, on the same data."""
    _COMMANDS["start"]()


def url_or_reason(*, fsync: bool = False) -> tuple[str | None, str]:
    """Return the address of a running server, or why there is none.

    The first call says whether it waits for the disk: without `fsync`, what is written survives a
    crash of the server, which is all that tests bring about.
    """
    if "url" not in _STARTED and "reason" not in _STARTED:
        _start(fsync=fsync)
    return _STARTED.get("url"), _STARTED.get("reason", "")


def new_database(url: str) -> str:
    """Return the address of a new, empty database on the server."""
    import psycopg  # noqa: PLC0415  # may be missing

    name = f"giro_{os.getpid()}_{len(_STARTED)}"
    _STARTED[name] = name
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return url.replace("dbname=postgres", f"dbname={name}").replace("/postgres?", f"/{name}?")


def _start(*, fsync: bool) -> None:
    binaries = _binaries()
    if binaries is None:
        _STARTED["reason"] = "needs PostgreSQL's initdb (Debian: postgresql)"
        return
    try:
        import psycopg  # noqa: F401, PLC0415  # may be missing
    except ImportError:
        _STARTED["reason"] = "needs psycopg: pip install 'giro-bandits[postgres]'"
        return
    folder = Path(tempfile.mkdtemp(prefix="giro-pg-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        user = _user(folder)
        _run(user, [str(binaries / "initdb"), "-D", str(folder / "data"), "-A", "trust",
                    "-U", "giro", "--no-sync", "-E", "UTF8"])  # fmt: skip
        options = f"-c listen_addresses='' -k {folder} -c max_connections=200"
        options += f" -c fsync={'on' if fsync else 'off'}"
        start = [str(binaries / "pg_ctl"), "-D", str(folder / "data"), "-o", options, "-w",
                 "-l", str(folder / "log"), "start"]  # fmt: skip
        _run(user, start)
    except (OSError, subprocess.SubprocessError) as error:
        _STARTED["reason"] = f"PostgreSQL does not start: {error}"
        return
    stop = [str(binaries / "pg_ctl"), "-D", str(folder / "data"), "-m", "immediate", "stop"]
    _COMMANDS.update(start=lambda: _run(user, start), stop=lambda: _run(user, stop))
    atexit.register(lambda: subprocess.run(stop, capture_output=True, user=user, check=False))
    _STARTED["url"] = f"postgresql://giro@/postgres?host={folder}"


def _run(user: str | None, command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, user=user, timeout=300, cwd="/")


def _user(folder: Path) -> str | None:
    """Return somebody else than root, to whom the folder is given; None if this is not root."""
    if os.geteuid() != 0:
        return None
    import pwd  # noqa: PLC0415  # not on Windows

    name = "postgres" if "postgres" in {each.pw_name for each in pwd.getpwall()} else "nobody"
    shutil.chown(folder, name)
    return name


def _binaries() -> Path | None:
    found = shutil.which("pg_ctl")
    if found and shutil.which("initdb") and not Path(found).is_symlink():
        return Path(found).parent
    for root in _FOLDERS:
        for path in sorted(Path(root).glob("**/bin/initdb"), reverse=True):
            return path.parent
    return Path(found).resolve().parent if found else None
