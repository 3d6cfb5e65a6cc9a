"""Metrics: what the service counts, in the format of Prometheus."""

import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from service.conftest import Client

from giro.bandit.alarms import KINDS
from giro.service.metrics import ALARMS, Metrics, Sample, exposition, samples_of

Served = Callable[..., None]
LINE = re.compile(r'^(\w+){((?:\w+="(?:[^"\\\n]|\\.)*",?)*)} ([0-9.e+-]+)$')


def parsed(text: str) -> dict[tuple[str, ...], float]:
    """Return the samples by their name and the values of their labels, without `worker`."""
    samples = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            match = LINE.match(line)
            assert match, line
            labels = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match[2])
            words = tuple(value for label, value in labels if label != "worker")
            assert (match[1], *words) not in samples
            samples[match[1], *words] = float(match[3])
    return samples


async def shown(ask: Client, **options: Any) -> dict[tuple[str, ...], float]:
    answer = await ask("GET", "/metrics", **options)
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return parsed(answer.text)


def test_decisions_rewards_requests_and_refusals_are_counted(served: Served) -> None:
    async def game(ask: Client) -> None:
        new = {"name": "b", "arms": ["x", "y"], "policy": "uniform", "reward_wait": 60}
        await ask.post("/v1/bandits", new)
        decisions = [await ask.post("/v1/bandits/b/decisions", {}) for _ in range(5)]
        reward = f"/v1/decisions/{decisions[0]['id']}/reward"
        await ask.post(reward, {"value": 1})
        assert (await ask("POST", reward, {"value": 0})).status_code == 409
        await ask("POST", "/v1/decisions/nobody/reward", {"value": 0})
        (running,) = ask.service.bandits.running()
        running.bandit.expire(0.0)
        late = f"/v1/decisions/{decisions[1]['id']}/reward"
        assert (await ask("POST", late, {"value": 1})).status_code == 409
        await ask("GET", "/v1/bandits", key="wrong")
        await ask("GET", "/v1/bandits", key=await ask.key(scopes=["decide"]))
        now = await shown(ask)
        decide, report = "/v1/bandits/{name}/decisions", "/v1/decisions/{id:path}/reward"
        assert now["giro_requests_total", "POST", decide, "200"] == 5
        assert now["giro_requests_total", "POST", report, "204"] == 1
        assert now["giro_requests_total", "POST", report, "404"] == 1
        assert [now["giro_reports_refused_total", r] for r in ("unknown", "late")] == [1, 1]
        assert now["giro_reports_refused_total", "contradiction"] == 1
        assert [now["giro_refused_total", r] for r in ("key", "scope", "rate")] == [1, 1, 0]
        assert [now[f"giro_{n}", "b"] for n in ("decisions", "rewards", "pending")] == [5, 5, 0]
        assert now["giro_arm_share", "b", "x"] + now["giro_arm_share", "b", "y"] == 1.0
        assert now["giro_commit_seconds_count", "decisions"] == 5
        assert now["giro_commit_seconds_bucket", "decisions", "+Inf"] == 5
        assert [now["giro_alarm", "b", kind] for kind in KINDS] == [0.0] * 4
        assert (now["giro_lag_events", "b"], now["giro_queue", "b"]) == (0, 0)

    served(game)


def test_metrics_need_a_key_that_may_read_and_show_its_bandits_only(served: Served) -> None:
    async def game(ask: Client) -> None:
        for name in ("mine", "other"):
            await ask.post("/v1/bandits", {"name": name, "arms": ["x", "y"], "policy": "ucb1"})
        assert (await ask("GET", "/metrics", key=None)).status_code == 401
        decides = await ask.key(scopes=["decide"])
        assert (await ask("GET", "/metrics", key=decides)).status_code == 403
        reads = await ask.key(scopes=["read"], bandits=["mine"])
        names = {key[1] for key in await shown(ask, key=reads) if key[0] == "giro_decisions"}
        assert names == {"mine"}

    served(game)


def test_a_worker_shows_the_counts_of_the_others_on_its_machine(served: Served) -> None:
    async def game(ask: Client) -> None:
        service, other = ask.service, Metrics()
        other.counts.worker, other.name = "other", service.metrics.name + "0"
        other.answered("GET", "/elsewhere", 200, 0.1)
        await service.call(service.records.put, "metrics", other.name, plain(other))
        await service.call(service.records.put, "metrics", "another-machine/1", plain(other))
        text = (await ask("GET", "/metrics")).text
        assert text.count('worker="other",method="GET",route="/elsewhere"') == 1
        await service.follow_once()
        kept = await service.call(service.records.all, "metrics")
        assert service.metrics.name in kept  # for the others

    served(game, workers=2)


def plain(metrics: Metrics) -> Any:
    return msgspec.to_builtins(metrics.now())


def test_labels_are_escaped_and_buckets_add_up() -> None:
    text = exposition([Sample("giro_decisions", 3, {"bandit": 'a"\\\n'})]).decode()
    assert text.splitlines()[-1] == 'giro_decisions{bandit="a\\"\\\\\\n"} 3'
    metrics = Metrics()
    for seconds in (0.0005, 0.003, 0.003, 99.0):
        metrics.answered("GET", "/", 200, seconds)
    now = parsed(exposition(samples_of(metrics.now())).decode())
    buckets = [value for key, value in now.items() if key[0] == "giro_request_seconds_bucket"]
    assert buckets == [1, 1, 3, *[3] * 10, 4]
    assert now["giro_request_seconds_sum",] == pytest.approx(99.0065)


def test_the_kinds_of_alarms_are_those_of_giro() -> None:
    assert ALARMS == KINDS


def test_the_summary_has_the_sentence_of_an_alarm(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("giro.bandit.alarms._TOO_FAR", -1)

    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", {"name": "b", "arms": ["x", "y"], "policy": "uniform"})
        summary = await ask.get("/v1/bandits/b/summary")
        (alarm,) = summary["alarms"]
        assert (alarm["kind"], summary["lag"]) == ("lagging", 0)
        assert "0 events of the log are not taken in" in alarm["text"]
        assert (await shown(ask))["giro_alarm", "b", "lagging"] == 1.0

    served(game)


def test_a_bandit_that_has_no_arms_yet_is_shown(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", {"name": "b", "policy": "greedy:model=hashed"})
        now = await shown(ask)
        assert now["giro_decisions", "b"] == 0
        assert not any(name == "giro_arm_share" for name, *_ in now)

    served(game)
