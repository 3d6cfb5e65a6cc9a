"""OpenFeature's own clients against a real server, and the programs of the page about them.

`scripts/install_clients.sh` installs the clients. Where they are missing these tests are skipped.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from service.clients import NODE, PYTHON, need_node, need_python
from service.test_run import CODE, KEY

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/howto/feature-flags.md"
BUTTON = {"name": "button", "arms": ["calm", "loud"], "policy": "uniform"}
COLOURS = {"payloads": {"calm": "#2d7", "loud": "#f40"}}
FLAGS: dict[str, dict[str, Any]] = {  # by the type that a program asks for
    "boolean": {"calm": True, "loud": False},
    "string": {"calm": "a", "loud": "é"},
    "integer": {"calm": 1, "loud": 2},
    "float": {"calm": 0.5, "loud": 1.5},
    "object": {"calm": {"a": [1]}, "loud": {"b": None}},
}


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Serve on a free port, with a key in the environment."""
    folder = tmp_path_factory.mktemp("served")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-c", CODE, "serve", "--port", str(port)]
    environment = os.environ | {"GIRO_ADMIN_KEY": KEY}
    process = subprocess.Popen(words, cwd=folder, env=environment, stderr=subprocess.DEVNULL)
    headers = {"X-API-Key": KEY}
    try:
        transport = httpx.HTTPTransport(retries=8)
        url = f"http://127.0.0.1:{port}"
        with httpx.Client(transport=transport, base_url=url, headers=headers, timeout=60) as client:
            assert client.get("/readyz").status_code == 200
            for kind, payloads in FLAGS.items():
                made = client.post(
                    "/v1/bandits", json=BUTTON | {"name": kind, "payloads": payloads}
                )
                assert made.is_success, made.text
            assert client.post("/v1/bandits", json=BUTTON | {"name": "over"}).is_success
            assert client.delete("/v1/bandits/over").is_success
            yield client
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def ran(program: str, kind: str, ask: httpx.Client, folder: Path, key: str = KEY) -> str:
    """Return what a program prints, which finds the server in its environment."""
    environment = os.environ | {"OFREP_ENDPOINT": str(ask.base_url), "GIRO_KEY": key}
    if kind == "js":
        node = need_node("@openfeature/ofrep-provider")
        (folder / "node_modules").symlink_to(NODE)
        words = [node, str(folder / "program.mjs")]
    else:
        need_python("openfeature")
        environment["PYTHONPATH"] = str(PYTHON)
        words = [sys.executable, str(folder / "program.py")]
    Path(words[1]).write_text(program, "utf-8")
    done = subprocess.run(
        words, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def block(kind: str) -> str:
    """Return the program of the page in a language."""
    (program,) = re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.M)
    return str(program)


@pytest.mark.parametrize("kind", ["js", "py"])
def test_the_program_of_the_page_reads_a_flag_and_rewards_it(
    ask: httpx.Client, tmp_path: Path, kind: str
) -> None:
    made = ask.post("/v1/bandits", json=BUTTON | COLOURS)
    before = made.json()
    assert ran(block(kind), kind, ask, tmp_path).strip() in COLOURS["payloads"].values()
    after = ask.get("/v1/bandits/button").json()
    assert after["decisions"] - before["decisions"] == 1
    assert after["rewards"] - before["rewards"] == 1


DETAILS = {
    "js": """
import { OpenFeature } from "@openfeature/server-sdk";
import { OFREPProvider } from "@openfeature/ofrep-provider";
const headers = { Authorization: `Bearer ${process.env.GIRO_KEY}` };
const baseUrl = process.env.OFREP_ENDPOINT;
await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl, headers }));
const flags = OpenFeature.getClient();
const visitor = { targetingKey: "js", age: 31, user: { likes: ["a", 1] }, at: new Date(0) };
console.log(JSON.stringify({
  boolean: await flags.getBooleanDetails("boolean", false, visitor),
  string: await flags.getStringDetails("string", "", visitor),
  integer: await flags.getNumberDetails("integer", 0, visitor),
  float: await flags.getNumberDetails("float", 0, visitor),
  object: await flags.getObjectDetails("object", {}, visitor),
  again: await flags.getStringDetails("string", "", { targetingKey: "js" }),
  type: await flags.getStringDetails("boolean", "default", visitor),
  missing: await flags.getStringDetails("nowhere", "default", visitor),
  nobody: await flags.getStringDetails("string", "default", { age: 31 }),
  wrong: await flags.getStringDetails("string", "default", { targetingKey: "x".repeat(2000) }),
  over: await flags.getStringDetails("over", "default", visitor),
}));
""",
    "py": """
import dataclasses, json, os
from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext
headers = {"Authorization": f"Bearer {os.environ['GIRO_KEY']}"}
api.set_provider(OFREPProvider(os.environ["OFREP_ENDPOINT"], headers_factory=lambda: headers))
flags = api.get_client()
visitor = EvaluationContext("py", {"age": 31, "user": {"likes": ["a", 1]}, "at": "1970-01-01"})
asked = {
    "boolean": flags.get_boolean_details("boolean", False, visitor),
    "string": flags.get_string_details("string", "", visitor),
    "integer": flags.get_integer_details("integer", 0, visitor),
    "float": flags.get_float_details("float", 0.0, visitor),
    "object": flags.get_object_details("object", {}, visitor),
    "again": flags.get_string_details("string", "", EvaluationContext("py")),
    "type": flags.get_string_details("boolean", "default", visitor),
    "missing": flags.get_string_details("nowhere", "default", visitor),
    "nobody": flags.get_string_details("string", "default", EvaluationContext(None, {"age": 31})),
    "wrong": flags.get_string_details("string", "default", EvaluationContext("x" * 2000)),
    "over": flags.get_string_details("over", "default", visitor),
}
print(json.dumps({
    name: {
        "value": each.value, "variant": each.variant, "reason": each.reason,
        "errorCode": each.error_code, "flagMetadata": each.flag_metadata,
    }
    for name, each in asked.items()
}))
""",
}


@pytest.mark.parametrize("kind", DETAILS)
def test_a_client_gets_values_of_every_type_and_its_defaults_with_the_reason(
    ask: httpx.Client, tmp_path: Path, kind: str
) -> None:
    got = json.loads(ran(DETAILS[kind], kind, ask, tmp_path))
    for name, payloads in FLAGS.items():
        flag = got[name]
        assert (flag["value"], flag["reason"]) == (payloads[flag["variant"]], "SPLIT")
        assert flag["flagMetadata"]["propensity"] == 0.5
    assert got["again"]["flagMetadata"] == got["string"]["flagMetadata"]
    codes = {
        "type": "TYPE_MISMATCH",
        "missing": "FLAG_NOT_FOUND",
        "nobody": "TARGETING_KEY_MISSING",
        "wrong": "INVALID_CONTEXT",
    }
    for name, code in codes.items():
        assert (got[name]["value"], got[name]["errorCode"]) == ("default", code)
    assert got["over"]["value"] == "default"
    assert kind != "py" or got["over"]["reason"] == "DISABLED"


@pytest.mark.parametrize("kind", DETAILS)
def test_a_client_without_a_valid_key_gets_the_defaults(
    ask: httpx.Client, tmp_path: Path, kind: str
) -> None:
    got = json.loads(ran(DETAILS[kind], kind, ask, tmp_path, key="wrong"))
    assert all(flag["reason"] == "ERROR" for flag in got.values())


WEB = """
globalThis.localStorage = undefined;
import { OpenFeature } from "@openfeature/web-sdk";
import { OFREPWebProvider } from "@openfeature/ofrep-web-provider";
const statuses = [];
const headers = [["X-API-Key", process.env.GIRO_KEY]];
const fetchImplementation = async (request) => {
  const answer = await fetch(request);
  statuses.push(answer.status);
  return answer;
};
const baseUrl = process.env.OFREP_ENDPOINT;
const options = { baseUrl, headers, fetchImplementation, pollInterval: 0 };
await OpenFeature.setContext({ targetingKey: "web" });
await OpenFeature.setProviderAndWait(new OFREPWebProvider(options));
const flags = OpenFeature.getClient();
const first = flags.getStringDetails("string", "default");
await OpenFeature.setContext({ targetingKey: "web", page: 2 });
console.log(JSON.stringify({
  first, again: flags.getStringDetails("string", "default"), statuses,
  over: flags.getStringDetails("over", "default"),
}));
process.exit(0);
"""


def test_the_web_client_reads_all_flags_at_once_and_none_of_them_counts(
    ask: httpx.Client, tmp_path: Path
) -> None:
    before = ask.get("/v1/bandits/string").json()["decisions"]
    got = json.loads(ran(WEB, "js", ask, tmp_path))
    first = got["first"]
    assert (first["value"], first["reason"]) == (FLAGS["string"][first["variant"]], "SPLIT")
    assert got["again"]["flagMetadata"] == first["flagMetadata"]
    assert got["statuses"] == [200, 304] and got["over"]["value"] == "default"
    assert ask.get("/v1/bandits/string").json()["decisions"] == before
    id = first["flagMetadata"]["decision"]
    assert ask.post(f"/v1/decisions/{id}/reward", json={"value": 1}).status_code == 204
    assert ask.get("/v1/bandits/string").json()["decisions"] == before + 1
