"""Where compiled kernels are kept: found by content, and run only if they can be trusted."""

import os
import sys
import tempfile
from pathlib import Path

import pytest

from giro.compiling import places
from giro.compiling.places import (
    Place,
    Processor,
    _usual_roots,
    distrust,
    package_digest,
    place,
)

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="a system without users")


@pytest.fixture(autouse=True)
def chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIRO_CACHE_DIR", str(tmp_path))
    return tmp_path


def found() -> Place:
    return place.__wrapped__()


def test_another_source_has_another_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "_PACKAGE", tmp_path)
    digests = []
    for name, source in [("a.py", "x = 1"), ("a.py", "x = 2"), ("b/c.py", "x = 2")]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(source)
        digests.append(package_digest.__wrapped__())
    assert len(set(digests)) == 3
    (tmp_path / "cli").mkdir()
    (tmp_path / "cli" / "main.py").write_text("x = 1")
    assert package_digest.__wrapped__() == digests[-1]


def test_rooms_outside_the_digest_hold_no_kernels() -> None:
    for room in places.WITHOUT_KERNELS:
        for path in (places._PACKAGE / room).glob("**/*.py"):
            assert "giro.compiling import" not in path.read_text(encoding="utf-8"), path


def test_a_folder_is_named_after_its_content(chosen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, here = places.processor().name, found()
    assert here == found()
    assert here.folder is not None
    assert here.folder.parent == chosen
    assert here.folder.name.startswith(package_digest())
    assert (here.writable, here.trouble, here.others) == (True, "", "")
    monkeypatch.setattr(places, "processor", lambda: Processor("z80", ""))
    elsewhere = found()
    assert elsewhere.folder != here.folder
    assert elsewhere.others == name
    assert found().others == ""  # told once, when the folder is made


def test_folders_of_others_are_not_used_and_it_is_told_why(
    chosen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = found().folder
    assert folder is not None
    owner = 12345
    monkeypatch.setattr(places, "_owners", lambda root, *, chosen: frozenset({owner}))
    assert found().folder is None
    assert found().trouble == f"{folder} belongs to another user"


def test_a_folder_that_everybody_writes_to_is_not_used() -> None:
    folder = found().folder
    assert folder is not None
    folder.chmod(0o777)
    assert found() == Place(
        None,
        found().owners,
        writable=False,
        trouble=f"{folder} can be written by others",
        others="",
    )
    folder.chmod(0o775)
    assert found().folder == folder


def test_the_owner_of_a_chosen_folder_is_trusted_if_nobody_else_can_write_there(
    chosen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    me, owner = 12345, chosen.stat().st_uid
    monkeypatch.setattr(os, "getuid", lambda: me)
    monkeypatch.setattr(places, "_is_in_the_open", lambda root: False)
    chosen.chmod(0o755)
    assert places._owners(chosen, chosen=True) == {0, me, owner}
    assert places._owners(chosen, chosen=False) == {0, me}
    chosen.chmod(0o775)
    assert places._owners(chosen, chosen=True) == {0, me}
    chosen.chmod(0o755)
    monkeypatch.setattr(places, "_is_in_the_open", lambda root: True)
    assert places._owners(chosen, chosen=True) == {0, me}


def test_what_lies_in_the_open_is_known(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    tmp_path.chmod(0o777)
    assert places._is_in_the_open(inner)
    assert not places._is_in_the_open(Path("/usr"))


def test_foreign_files_must_not_be_open_to_a_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.touch()
    owners = frozenset({file.stat().st_uid})
    file.chmod(0o664)
    assert distrust(file, owners) == ""
    monkeypatch.setattr(places, "_mine", lambda: (12345,))
    assert distrust(file, owners) == f"{file} can be written by others"
    file.chmod(0o644)
    assert distrust(file, owners) == ""


def test_folders_long_unused_are_deleted_and_nothing_else(chosen: Path) -> None:
    for name, age in (("old", 40), ("new", 1), ("somebody's", 40)):
        (chosen / name).mkdir()
        if name != "somebody's":
            (chosen / name / "about.json").touch()
        moment = (chosen / name).stat().st_mtime - age * 24 * 3600
        os.utime(chosen / name, (moment, moment))
    folder = found().folder
    assert folder is not None
    assert sorted(path.name for path in chosen.iterdir()) == sorted(
        ["new", "somebody's", folder.name]
    )


def test_where_no_folder_can_be_made_it_is_told_why(
    chosen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (chosen / "file").touch()
    monkeypatch.setenv("GIRO_CACHE_DIR", str(chosen / "file"))
    assert found().folder is None
    assert found().trouble == f"{chosen / 'file'} cannot be used (Not a directory)"


def test_without_a_choice_the_users_own_folder_comes_first(
    chosen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GIRO_CACHE_DIR")
    roots = [chosen / "file", chosen / "temporary"]
    monkeypatch.setattr(places, "_usual_roots", lambda: roots)
    (chosen / "file").touch()
    folder = found().folder
    assert folder is not None
    assert folder.parent == roots[1]
    (chosen / "temporary").rename(chosen / "gone")
    (chosen / "temporary").touch()
    assert found().trouble.count("cannot be used") == 2


CACHES = {"win32": "LOCALAPPDATA", "darwin": "Library/Caches", "linux": "XDG_CACHE_HOME"}


def test_the_cache_is_where_the_system_keeps_caches_and_else_in_its_folder_for_what_passes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("GIRO_CACHE_DIR", raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "passing"))
    for name in ("LOCALAPPDATA", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    for system, folder in CACHES.items():
        monkeypatch.setattr(sys, "platform", system)
        first, second = _usual_roots()
        assert first == tmp_path / folder / "giro"
        assert second.parent == tmp_path / "passing"


@pytest.mark.parametrize(("system", "folder"), [("win32", ""), ("linux", ".cache")])
def test_the_cache_is_in_the_home_where_the_system_names_no_folder(
    system: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIRO_CACHE_DIR", "LOCALAPPDATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", system)
    assert _usual_roots()[0] == Path.home() / folder / "giro"
