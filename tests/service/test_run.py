"""A real server, from its first key to its graceful end."""

import contextlib
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from giro import BadParameter, Bandit, Records
from giro.service.keys import all_keys, create_key
from giro.service.messages import NewBandit
from giro.service.run import Worker, make_bandits, tell_of_key
from giro.service.settings import KeySetting, Settings

KEY = "a key for everything"
CODE = "from giro.cli.main import main; main()"


@contextlib.contextmanager
def server(folder: Path, *options: str) -> Iterator[httpx.Client]:
    """Start `giro serve` on a unix socket, and end it by a signal."""
    uds = folder / "s"
    words = [sys.executable, "-c", CODE, "serve", "--uds", str(uds), *options]
    environment = os.environ | {"GIRO_ADMIN_KEY": KEY}
    process = subprocess.Popen(words, cwd=folder, env=environment, stderr=subprocess.PIPE)
    transport = httpx.HTTPTransport(uds=str(uds), retries=0)
    headers = {"Authorization": f"Bearer {KEY}"}
    with httpx.Client(transport=transport, base_url="http://x", headers=headers, timeout=60) as ask:
        try:
            wait_for(uds, process)
            assert ask.get("/readyz").status_code == 200
            yield ask
        finally:
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert KEY.encode() not in said


def wait_for(uds: Path, process: "subprocess.Popen[bytes]") -> None:
    """Wait until somebody listens."""
    while process.poll() is None:
        with socket.socket(socket.AF_UNIX) as tried, contextlib.suppress(OSError):
            tried.connect(str(uds))
            return
        time.sleep(0.02)
    pytest.fail(f"it ended: {process.communicate()}")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_server_decides_evaluates_and_ends_without_losing_anything(
    tmp_path: Path, workers: str
) -> None:
    with server(tmp_path, "--workers", workers) as ask:
        body: dict[str, Any] = {"name": "b", "arms": ["x", "y"], "policy": "thompson"}
        assert ask.post("/v1/bandits", json=body).status_code == 201
        for i in range(10):
            answer = ask.post("/v1/bandits/b/decisions", json={"id": str(i)})
            assert answer.status_code == 200, answer.text
            reward = ask.post(f"/v1/decisions/{i}/reward", json={"value": 1})
            assert reward.status_code == 204, reward.text
        result = ask.post("/v1/bandits/b/evaluations", json={"policy": "logged"}).json()
        while result["status"] == "running" and workers == "1":
            time.sleep(0.1)
            result = ask.get(f"/v1/bandits/b/evaluations/{result['id']}").json()
        assert workers != "1" or result["rows"][0]["value"] == 1.0
    with Bandit.open(f"sqlite:///{tmp_path}/giro.db", "b") as bandit:
        assert (bandit.n_decisions, bandit.n_rewards) == (10, 10)


# httpx leaves sockets of connections that are refused to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_signal_under_load_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    acknowledged: list[str] = []

    def ask_on(ask: httpx.Client) -> None:
        with contextlib.suppress(httpx.TransportError):  # the server is gone
            while True:
                answer = ask.post("/v1/bandits/b/decisions", json={})
                if answer.status_code != 200:
                    return
                acknowledged.append(answer.json()["id"])

    with server(tmp_path) as ask:
        body: dict[str, Any] = {"name": "b", "arms": ["x", "y"], "policy": "uniform"}
        assert ask.post("/v1/bandits", json=body).status_code == 201
        evaluation = ask.post("/v1/bandits/b/evaluations", json={"policy": "logged"}).json()
        callers = [threading.Thread(target=ask_on, args=(ask,)) for _ in range(4)]
        for caller in callers:
            caller.start()
        while len(acknowledged) < 50:
            assert any(caller.is_alive() for caller in callers)
            time.sleep(0.01)
    for caller in callers:
        caller.join(60)
    store = f"sqlite:///{tmp_path}/giro.db"
    with Bandit.open(store, "b") as bandit, Records(store) as records:
        assert set(acknowledged) <= set(bandit.events()["id"].to_list())
        record = records.get("evaluation", f"b/{evaluation['id']}")
        assert record is not None and record.value["status"] in ("failed", "done")


def test_the_first_key_is_shown_once(tmp_path: Path) -> None:
    settings, lines = Settings(store=f"sqlite:///{tmp_path}/giro.db"), list[str]()
    tell_of_key(settings, lines.append)
    tell_of_key(settings, lines.append)
    (line,) = lines
    with Records(settings.store) as records:
        (key,) = all_keys(records)
        assert key.hash not in line and "giro_" in line


def test_without_a_key_only_this_machine_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path}/giro.db", host="0.0.0.0")
    with pytest.raises(BadParameter, match="needs a key"):
        tell_of_key(settings, print)
    monkeypatch.setenv("GIRO_ADMIN_KEY", KEY)
    tell_of_key(settings, print)
    assert "GIRO_ADMIN_KEY" not in os.environ  # children need not know it
    tell_of_key(settings, print)
    with Records(settings.store) as records:
        assert len(all_keys(records)) == 1
        create_key(records, secret=KEY)
        assert len(all_keys(records)) == 1


def test_keys_of_the_settings_have_their_secret_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = KeySetting(variable="SHOP_KEY", scopes=("decide",), bandits=("shop-*",), rate=5.0)
    settings = Settings(store=f"sqlite:///{tmp_path}/giro.db", host="0.0.0.0", keys=[key])
    monkeypatch.delenv("SHOP_KEY", raising=False)
    with pytest.raises(BadParameter, match="SHOP_KEY"):
        tell_of_key(settings, print)
    monkeypatch.setenv("SHOP_KEY", KEY)
    for _ in range(2):
        tell_of_key(settings, pytest.fail)  # there is a key, so none is shown
    with Records(settings.store) as records:
        (made,) = all_keys(records)
        assert (made.scopes, made.bandits, made.rate) == (("decide",), ("shop-*",), 5.0)


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (NewBandit("new", ["a"], "gyro"), "'new' .* no policy is called 'gyro'"),
        (NewBandit("old", ["a", "c"], "ucb1"), "'old' .*arms"),
    ],
)
def test_a_bandit_that_cannot_be_made_is_told_before_anything_is_served(
    tmp_path: Path, new: NewBandit, words: str
) -> None:
    store = f"sqlite:///{tmp_path}/giro.db"
    for _ in range(2):  # the same again changes nothing
        make_bandits(Settings(store=store, bandits=[NewBandit("old", ["a", "b"], "ucb1")]))
    with pytest.raises(BadParameter, match=words):
        make_bandits(Settings(store=store, bandits=[new]))
    assert Bandit.names(store) == ["old"]


def test_a_worker_that_dies_does_not_keep_the_server_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worker = Worker(uvicorn.Config("none"), [])
    monkeypatch.setattr(
        worker, "process", multiprocessing.get_context("spawn").Process(target=signal.pause)
    )
    worker.start()
    answers = list[bool]()
    waiting = threading.Thread(target=lambda: answers.append(worker.is_alive(timeout=600.0)))
    waiting.start()
    worker.process.kill()
    waiting.join(300.0)
    assert answers == [False]


READY = """
import sys, threading
import giro.service.app
from giro.service.messages import NewBandit
from giro.service.run import make_bandits
from giro.service.settings import Settings

new = NewBandit("b", ["red", "green"], "thompson")
make_bandits(Settings(store=sys.argv[1], bandits=[new]))
print("polars" in sys.modules, threading.active_count())
"""


def test_a_process_that_forks_workers_has_no_threads_that_they_would_miss(tmp_path: Path) -> None:
    words = [sys.executable, "-c", READY, f"sqlite:///{tmp_path}/giro.db"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert said.split() == ["False", "1"]  # polars waits for its threads for ever


STARTER = """
import sys, time
from pathlib import Path
from servers import SERVE, Server, free_port

server = Server([*SERVE, "--workers", "2"], port=free_port(), folder=Path(sys.argv[1])).ready()
print(server.process.pid, flush=True)
time.sleep(600)
"""


def test_a_server_of_a_test_ends_with_it(tmp_path: Path) -> None:
    words = [sys.executable, "-c", STARTER, str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment) as starter:
        assert starter.stdout is not None
        server = int(starter.stdout.readline())
        starter.kill()
    while Path(f"/proc/{server}").exists():  # until the test is too long
        time.sleep(0.02)
