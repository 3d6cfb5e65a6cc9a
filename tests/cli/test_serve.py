"""`giro serve`; a server that runs is in service/test_run."""

from pathlib import Path

from cli.conftest import Giro


def test_wrong_settings_are_one_sentence(giro: Giro, tmp_path: Path) -> None:
    done = giro("serve", "--config", tmp_path / "no.toml")
    assert (done.status, done.error) == (2, f"giro: there is no file {tmp_path}/no.toml\n")
    done = giro("serve", "--store", f"sqlite:///{tmp_path}/x.db", "--host", "0.0.0.0")
    assert done.status == 2
    assert "needs a key" in done.error
