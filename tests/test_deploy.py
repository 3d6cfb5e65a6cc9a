"""What deploy/ starts: no containers are run here, so each step is checked against giro itself."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

import giro.cli.serve
import giro.cli.warm_up  # noqa: F401  # commands register themselves
from giro import Policy
from giro.cli.main import app as commands
from giro.service.app import application
from giro.service.settings import Settings

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile, continued lines joined."""
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    lines = (line for line in text.replace("\\\n", " ").splitlines() if line.strip())
    return [(word, rest) for word, _, rest in (ln.partition(" ") for ln in lines if ln[:1] != "#")]


def plain(name: str) -> Any:
    return yaml.safe_load((DEPLOY / name).read_text("utf-8"))


def kubernetes() -> tuple[Any, Any]:
    deployment, service = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text("utf-8"))
    return deployment, service


def container() -> Any:
    (only,) = kubernetes()[0]["spec"]["template"]["spec"]["containers"]
    return only


def unit() -> dict[str, str]:
    lines = (DEPLOY / "giro.service").read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and line[:1] != "#")


def giro_lines() -> Iterator[list[str]]:
    """Yield each command line of giro in deploy/, without the path of the program."""
    for word, rest in instructions():
        if word == "RUN" and rest.startswith("giro "):
            yield shlex.split(rest)[1:]
        if word == "CMD":
            yield json.loads(rest)[1:]
    yield plain("compose.yaml")["services"]["giro"]["command"][1:]
    yield container()["args"][1:]
    yield shlex.split(unit()["ExecStart"])[1:]


def test_every_command_line_is_one_that_giro_understands() -> None:
    """The lines are parsed, not run: that an unknown option fails is the twin of this test."""
    lines = list(giro_lines())
    assert [line[0] for line in lines] == ["warm-up", "serve", "serve", "serve", "serve"]
    for line in lines:
        context = parsed(line)
        for policy in context.params.get("policies", ()):
            Policy.parse(policy)
    with pytest.raises(Exception, match="nonsense"):
        parsed([*lines[-1], "--nonsense"])


def parsed(line: list[str]) -> Any:
    group: Any = typer.main.get_command(commands)
    command = group.commands[line[0]]
    return command.make_context(line[0], line[1:])


def test_ports_agree_everywhere() -> None:
    port = next(rest for word, rest in instructions() if word == "EXPOSE")
    assert port == str(Settings().port)
    for line in giro_lines():
        assert line[0] != "serve" or line[line.index("--port") + 1] == port
    assert [each["containerPort"] for each in container()["ports"]] == [int(port)]
    (published,) = plain("compose.yaml")["services"]["giro"]["ports"]
    assert published == f"127.0.0.1:{port}:{port}"
    assert kubernetes()[1]["spec"]["ports"][0]["targetPort"] == container()["ports"][0]["name"]


def test_probes_ask_for_routes_that_exist_and_need_no_key() -> None:
    routes = {route.path: route.app for route in application(Settings()).routes}  # type: ignore[attr-defined]
    probes = [
        container()[f"{kind}Probe"]["httpGet"] for kind in ("startup", "readiness", "liveness")
    ]
    paths = [probe["path"] for probe in probes]
    check = next(rest for word, rest in instructions() if word == "HEALTHCHECK")
    paths += re.findall(r"127\.0\.0\.1:8720(/\w+)", check)
    assert paths == ["/livez", "/readyz", "/livez", "/readyz"]
    assert not any(routes[path].needs_key for path in paths)


def test_the_image_is_built_of_files_that_are_there_and_does_not_run_as_root() -> None:
    steps = instructions()
    copied = [name for word, rest in steps if word == "COPY" for name in rest.split()[:-1]]
    assert copied and all((ROOT / name).exists() for name in copied)
    metadata = (ROOT / "pyproject.toml").read_text("utf-8")
    (install,) = [rest for word, rest in steps if "pip install" in rest]
    for extra in re.findall(r"\[(.*)\]", install)[0].split(","):
        assert f"\n{extra} = [" in metadata
    assert 'readme = "README.md"' in metadata and 'license-files = ["LICENSE"]' in metadata
    users = [number for number, (word, _) in enumerate(steps) if word == "USER"]
    warm_up = next(n for n, (_, rest) in enumerate(steps) if rest.startswith("giro warm-up"))
    assert steps[users[0]][1] != "root" and users[0] < warm_up  # kernels belong to who runs
    security = kubernetes()[0]["spec"]["template"]["spec"]["securityContext"]
    (made,) = [rest for _, rest in steps if rest.startswith("useradd")]
    assert security["runAsNonRoot"] and f"--uid {security['runAsUser']} " in made


def test_secrets_come_from_outside_and_there_is_time_to_end() -> None:
    environment = plain("compose.yaml")["services"]["giro"]["environment"]
    assert environment["GIRO_ADMIN_KEY"] == "${GIRO_ADMIN_KEY:?}"
    assert "${POSTGRES_PASSWORD:?}" in environment["GIRO_STORE"]
    assert all("secretKeyRef" in each["valueFrom"] for each in container()["env"])
    assert "EnvironmentFile" in unit()
    patience = 15  # seconds for requests under way, see run.py
    pod = kubernetes()[0]["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] > patience
    assert int(unit()["TimeoutStopSec"]) > patience
    assert plain("compose.yaml")["services"]["giro"]["stop_grace_period"] == "60s"
