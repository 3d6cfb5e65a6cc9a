"""Settings of giro serve."""

from pathlib import Path

import pytest

from giro import BadFile, BadParameter
from giro.service.messages import NewBandit
from giro.service.settings import Limits, Settings, settings_from


def test_options_come_before_the_file_and_the_file_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "giro.toml"
    file.write_text('port = 1\nhost = "::1"\n[limits]\narms = 7\n[[bandits]]\nname = "x"\n')
    monkeypatch.setenv("GIRO_STORE", "sqlite:///secret.db")
    settings = settings_from(file, {"port": 2, "host": None})
    assert (settings.port, settings.host, settings.store) == (2, "::1", "sqlite:///secret.db")
    assert settings.limits == Limits(arms=7)
    assert settings.bandits == [NewBandit("x")]
    assert settings_from(None, {"store": "sqlite:///a.db"}).store == "sqlite:///a.db"


@pytest.mark.parametrize("text", ["port = 'x'", "prot = 1", "[limits]\nbody = []", "workers = 0"])
def test_wrong_settings_are_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "giro.toml"
    file.write_text(text)
    with pytest.raises(BadParameter, match="giro serve"):
        settings_from(file, {})


@pytest.mark.parametrize("text", [None, "port = ", "\xff"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "giro.toml"
    if text is not None:
        file.write_text(text, "latin-1")
    with pytest.raises(BadFile, match=r"giro\.toml"):
        settings_from(file, {})


def test_only_loopback_and_sockets_are_local() -> None:
    assert Settings().is_local
    assert Settings(host="0.0.0.0", uds="giro.sock").is_local
    assert not Settings(host="0.0.0.0").is_local


@pytest.mark.parametrize(
    ("store", "place"),
    [
        ("postgresql://ann:x@db:1/giro?password=x", "postgresql://db:1/giro"),
        ("sqlite:///shop.db", "sqlite:///shop.db"),
        ("shop.giro", "shop.giro"),
    ],
)
def test_an_address_is_shown_without_its_password(store: str, place: str) -> None:
    assert Settings(store=store).place == place
