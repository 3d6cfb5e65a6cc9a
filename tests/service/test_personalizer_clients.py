"""The four clients of Azure AI Personalizer, unchanged, against a real server.

`scripts/install_clients.sh` installs them. Where they are missing these tests are skipped.
"""

import json
import os
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

PYTHON_V1 = """
import json, sys
from azure.cognitiveservices.personalizer import PersonalizerClient
from azure.cognitiveservices.personalizer.models import RankRequest, RankableAction
from msrest.authentication import CognitiveServicesCredentials

client = PersonalizerClient(sys.argv[1], CognitiveServicesCredentials(sys.argv[2]))
actions = [RankableAction(id=word, features=[{"taste": word}]) for word in "abc"]
said = []
for number, deferred in enumerate((False, True)):
    request = RankRequest(
        actions=actions,
        context_features=[{"time": "morning"}],
        excluded_actions=["b"],
        event_id=f"v1/{number}",
        defer_activation=deferred,
    )
    answer = client.rank(rank_request=request)
    client.events.activate(answer.event_id)
    client.events.reward(answer.event_id, value=0.5)
    client.events.reward("nobody", value=0.5)
    ranking = [[each.id, each.probability] for each in answer.ranking]
    said.append([answer.event_id, answer.reward_action_id, ranking])
try:
    client.events.reward("v1/0", value=2.0)
except Exception as error:
    said.append([type(error).__name__, error.response.status_code, error.response.json()])
print(json.dumps(said))
"""
PYTHON_V2 = """
import datetime, json, sys
from azure.core.credentials import AzureKeyCredential
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError
from azure.ai.personalizer import PersonalizerAdministrationClient, PersonalizerClient

where = sys.argv[1], AzureKeyCredential(sys.argv[2])
client, admin = PersonalizerClient(*where), PersonalizerAdministrationClient(*where)
actions = [{"id": word, "features": [{"taste": word}]} for word in "abc"]
said = {}
rank = {"actions": actions, "eventId": "v2/0", "deferActivation": True}
said["rank"] = client.rank(rank)
client.reward("v2/0", {"value": 1.0})
client.activate("v2/0")
slots = [{"id": word, "baselineAction": word, "features": [{"size": word}]} for word in "ab"]
said["slots"] = client.rank_multi_slot({"actions": actions, "slots": slots, "eventId": "m"})
client.reward_multi_slot("m", {"reward": [{"slotId": "a", "value": 1.0}]})
client.activate_multi_slot("m")
configuration = admin.get_service_configuration()
changed = configuration | {"learningMode": "Apprentice"}
said["configuration"] = admin.update_service_configuration(changed)
admin.update_service_configuration(configuration)
said["policy"] = admin.update_policy({"name": "bag", "arguments": "--cb_explore_adf --bag 3"})
said["reset"] = admin.reset_policy()
said["same"] = admin.get_policy() == said["reset"]
said["model"] = admin.get_model_properties()
said["logs"] = admin.get_log_properties()
times = {"startTime": "2000-01-01T00:00:00Z", "endTime": "2100-01-01T00:00:00Z"}
admin.create_evaluation("e", {"name": "e", "policies": [], **times})
said["evaluations"] = [each["id"] for each in admin.list_evaluations()]
day = datetime.datetime(2026, 1, 1)
said["evaluation"] = admin.get_evaluation("e", start_time=day, end_time=day)["name"]
said["bytes"] = len(b"".join(admin.export_model(signed=False)))
try:
    client.rank({"actions": []})
except HttpResponseError as error:
    said["error"] = [error.status_code, json.loads(error.response.text())["error"]["code"]]
try:
    PersonalizerClient(sys.argv[1], AzureKeyCredential("wrong")).activate("x")
except ClientAuthenticationError as error:
    said["refused"] = error.status_code
admin.delete_logs()
print(json.dumps(said))
"""
JS_V1 = """
const { PersonalizerClient } = require("@azure/cognitiveservices-personalizer");
const { ApiKeyCredentials } = require("@azure/ms-rest-js");
const [endpoint, key] = process.argv.slice(2);
const credentials = new ApiKeyCredentials({ inHeader: { "Ocp-Apim-Subscription-Key": key } });
const client = new PersonalizerClient(credentials, endpoint);
const actions = ["a", "b", "c"].map((id) => ({ id, features: [{ taste: id }] }));
(async () => {
  const request = { actions, contextFeatures: [{ time: "morning" }], excludedActions: ["b"] };
  const answer = await client.rank({ ...request, eventId: "js/1", deferActivation: true });
  await client.events.activate(answer.eventId);
  await client.events.reward(answer.eventId, { value: 1 });
  const said = { rank: answer };
  try {
    await client.rank({ actions: [] });
  } catch (error) {
    said.error = [error.statusCode, error.body.error.code];
  }
  console.log(JSON.stringify(said));
})();
"""
JS_V3 = """
const { default: create, isUnexpected } = require("@azure-rest/ai-personalizer");
const [endpoint, key] = process.argv.slice(2);
const client = create(endpoint, { key }, { allowInsecureConnection: true });
const actions = ["a", "b", "c"].map((id) => ({ id, features: [{ taste: id }] }));
const slots = ["a", "b"].map((id) => ({ id, baselineAction: id }));
(async () => {
  const said = {};
  const call = async (name, answer) => {
    const { status, body } = await answer;
    said[name] = [status, body];
    if (isUnexpected(await answer)) said[name].push("unexpected");
  };
  const options = { allowInsecureConnection: true };
  const ask = (path, ...ids) => client.path(path, ...ids);
  const id = "js3/1";
  await call("rank", ask("/rank").post({ body: { actions, eventId: id }, ...options }));
  const value = { body: { value: 1 }, ...options };
  await call("reward", ask("/events/{eventId}/reward", id).post(value));
  await call("activate", ask("/events/{eventId}/activate", id).post(options));
  const multi = { actions, slots, eventId: "m3" };
  await call("slots", ask("/multislot/rank").post({ body: multi, ...options }));
  const reward = [{ slotId: "a", value: 1 }];
  const path = "/multislot/events/{eventId}/reward";
  await call("slot reward", ask(path, "m3").post({ body: { reward }, ...options }));
  await call("get", ask("/configurations/service").get(options));
  const body = said.get[1];
  await call("put", ask("/configurations/service").put({ body, ...options }));
  await call("policy", ask("/configurations/policy").get(options));
  await call("model", ask("/model/properties").get(options));
  await call("logs", ask("/logs/properties").get(options));
  const times = { startTime: "2000-01-01T00:00:00Z", endTime: "2100-01-01T00:00:00Z" };
  const judged = { body: { name: "e", policies: [], ...times }, ...options };
  await call("evaluate", ask("/evaluations").post(judged));
  await call("evaluations", ask("/evaluations").get(options));
  await call("error", ask("/rank").post({ body: { actions: [] }, ...options }));
  console.log(JSON.stringify(said));
})();
"""


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve on a free port, with a key in the environment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-c", CODE, "serve", "--port", str(port)]
    environment = os.environ | {"GIRO_ADMIN_KEY": KEY}
    folder = tmp_path_factory.mktemp("served")
    process = subprocess.Popen(words, cwd=folder, env=environment, stderr=subprocess.DEVNULL)
    try:
        with httpx.Client(transport=httpx.HTTPTransport(retries=8), timeout=60) as client:
            assert client.get(f"http://127.0.0.1:{port}/readyz").status_code == 200
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def said_by(program: list[str], code: str, endpoint: str, folder: Path) -> Any:
    """Return what a program prints as JSON."""
    path = folder / "program"
    path.write_text(code, "utf-8")
    environment = os.environ | {
        "PYTHONPATH": str(PYTHON),
        "NODE_PATH": str(NODE),
        "NODE_NO_WARNINGS": "1",
    }
    words = [*program, str(path), endpoint, KEY]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def python_with(package: str) -> list[str]:
    """Return how to start Python, if there is this package for it."""
    need_python(package)
    return [sys.executable, "-W", "ignore"]


def test_python_of_version_1(endpoint: str, tmp_path: Path) -> None:
    program = python_with("azure/cognitiveservices/personalizer")
    *ranks, error = said_by(program, PYTHON_V1, endpoint, tmp_path)
    for number, (event, action, ranking) in enumerate(ranks):
        assert (event, action in "ac") == (f"v1/{number}", True)
        assert [row for row in ranking if row[0] == "b"] == [["b", 0.0]]
        assert sum(chance for _, chance in ranking) == pytest.approx(1.0)
    assert error[:2] == ["HttpOperationError", 400]
    assert error[2]["error"]["code"] == "InvalidRewardRequest"


def test_python_of_2022(endpoint: str, tmp_path: Path) -> None:
    said = said_by(python_with("azure/ai/personalizer"), PYTHON_V2, endpoint, tmp_path)
    assert (said["rank"]["eventId"], len(said["rank"]["ranking"])) == ("v2/0", 3)
    assert {slot["id"] for slot in said["slots"]["slots"]} == {"a", "b"}
    assert said["configuration"]["learningMode"] == "Apprentice"
    assert said["configuration"]["latestApprenticeModeMetrics"]["numberOfEvents"] >= 3
    assert said["configuration"]["rewardWaitTime"] == "PT10M"
    assert said["policy"]["name"] == "bag" and said["same"]
    assert said["logs"]["dateRange"]["from"] == said["model"]["creationTime"]
    assert said["bytes"] > 1000
    assert (said["evaluations"], said["evaluation"]) == (["e"], "e")
    assert said["error"] == [400, "InvalidRankRequest"]
    assert said["refused"] == 401


def test_javascript_of_version_1(endpoint: str, tmp_path: Path) -> None:
    program = [need_node("@azure/cognitiveservices-personalizer")]
    said = said_by(program, JS_V1, endpoint, tmp_path)
    assert said["rank"]["eventId"] == "js/1" and said["rank"]["rewardActionId"] in "ac"
    assert len(said["rank"]["ranking"]) == 3
    assert said["error"] == [400, "InvalidRankRequest"]


def test_javascript_of_preview_3(endpoint: str, tmp_path: Path) -> None:
    program = [need_node("@azure-rest/ai-personalizer")]
    said = said_by(program, JS_V3, endpoint.rstrip("/"), tmp_path)  # it looks for its paths
    error = said.pop("error")
    assert (error[0], error[1]["error"]["code"]) == ("400", "InvalidRankRequest")
    assert "unexpected" in error
    without = ("reward", "activate", "slot reward")  # it expects nothing at paths with ids
    assert [said[name][0] for name in without] == ["204"] * 3
    assert [name for name in said if "unexpected" in said[name] and name not in without] == []
    assert said["rank"][1]["rewardActionId"] in "abc"
    assert {each["name"] for each in said["evaluations"][1]} == {"e"}
    assert said["put"][1]["explorationPercentage"] == 0.2
