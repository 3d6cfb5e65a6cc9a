"""Pages: one bandit, their origins, keys that anybody may read; `giro.js` in Node."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from service.conftest import Client

from giro.service.browser import SCRIPT

Served = Callable[..., None]
SHOP = "https://shop.example"
FOR_PAGES = {"scopes": ["decide", "reward"], "bandits": ["button"], "origins": [SHOP]}
NODE = shutil.which("node")


async def asked(ask: Client, body: Any, origin: str | None = SHOP) -> Any:
    """Ask as a page does: text without a preflight."""
    headers = {"content-type": "text/plain"} | ({"origin": origin} if origin else {})
    return await ask.http.post("/v1/page", content=json.dumps(body), headers=headers)


async def with_key(ask: Client, **more: Any) -> str:
    await ask.post("/v1/bandits", {"name": "button", "arms": ["red", "green"], "policy": "uniform"})
    made = await ask.post("/v1/keys", FOR_PAGES | more)
    return str(made["secret"])


def test_a_page_decides_and_rewards_with_one_request_and_the_key_inside(served: Served) -> None:
    async def game(ask: Client) -> None:
        key = await with_key(ask)
        decisions = [{"id": "a"}, {"id": "b", "taken": "green"}, {"arms": ["blue"]}]
        rewards = [{"id": "b", "value": 1, "report": "r"}, {"id": "nobody", "value": 1}]
        body = {"key": key, "decisions": decisions, "rewards": rewards}
        for _ in range(2):  # the same again changes nothing
            answer = await asked(ask, body)
            assert answer.status_code == 200
            assert answer.headers["access-control-allow-origin"] == SHOP
            first, second, third = answer.json()["decisions"]
            assert (first["decision"]["id"], second["decision"]["arm"]) == ("a", "green")
            assert third["problem"]["status"] == 422
            assert [each["status"] for each in answer.json()["rewards"]] == [204, 404]
        info = await ask.get("/v1/bandits/button")
        assert (info["decisions"], info["rewards"]) == (2, 1)

    served(game)


def test_a_key_for_pages_answers_only_its_pages(served: Served) -> None:
    async def game(ask: Client) -> None:
        key = await with_key(ask)
        for origin in (None, "null", "https://shop.example.evil", "http://shop.example"):
            answer = await asked(ask, {"key": key, "decisions": [{}]}, origin)
            assert answer.status_code == 403
            assert "access-control-allow-origin" not in answer.headers
        wrong = await asked(ask, {"key": "wrong", "decisions": [{}]})
        assert wrong.status_code == 401
        assert wrong.headers["access-control-allow-origin"] == SHOP  # the page may read why
        other = await ask.key(scopes=("decide",))
        assert (await asked(ask, {"key": other, "decisions": [{}]})).status_code == 403
        path = "/v1/bandits/button/decisions"
        assert (await ask("POST", path, {}, key=key)).status_code == 403
        own = {"authorization": f"Bearer {key}", "origin": SHOP}
        assert (await ask.http.post(path, json={}, headers=own)).status_code == 200
        assert (await ask.http.get("/v1/bandits/button", headers=own)).status_code == 403
        other_bandit = await ask.http.post("/v1/bandits/x/decisions", json={}, headers=own)
        assert other_bandit.status_code == 403

    served(game)


def test_a_browser_that_asks_before_is_answered_for_known_pages(served: Served) -> None:
    async def game(ask: Client) -> None:
        path = "/v1/bandits/button/decisions"
        asking = {"origin": SHOP, "access-control-request-method": "POST"}
        assert (await ask.http.options(path, headers=asking)).status_code == 405
        await with_key(ask)
        answer = await ask.http.options(path, headers=asking)
        assert (answer.status_code, answer.headers["vary"]) == (204, "Origin")
        assert answer.headers["access-control-allow-origin"] == SHOP
        assert "authorization" in answer.headers["access-control-allow-headers"]
        other = await ask.http.options(path, headers=asking | {"origin": "https://evil.example"})
        assert other.status_code == 405
        assert "access-control-allow-origin" not in other.headers

    served(game)


@pytest.mark.parametrize(
    "wrong",
    [
        {"scopes": ["decide", "read"]},
        {"bandits": ["*"]},
        {"bandits": ["button", "other"]},
        {"origins": ["shop.example"]},
        {"origins": ["https://shop.example/"]},
        {"origins": ["*"]},
    ],
)
def test_a_key_that_anybody_can_read_may_do_no_more_than_a_page_needs(
    wrong: Any, served: Served
) -> None:
    async def game(ask: Client) -> None:
        assert (await ask("POST", "/v1/keys", FOR_PAGES | wrong)).status_code == 422

    served(game)


def test_the_script_comes_from_the_service(served: Served) -> None:
    async def game(ask: Client) -> None:
        answer = await ask("GET", "/giro.js", key=None)
        assert answer.headers["content-type"].startswith("text/javascript")
        assert answer.content == SCRIPT.read_bytes()
        assert not re.search(r"https?://(?!bandits\.example|\.\.\.)", answer.text)

    served(game)


# -- giro.js in Node ---------------------------------------------------------------------------

WORLD = """
const giro = require(process.argv[1]);
const log = {asked: [], decisions: {}, rewards: {}};
let cut = "";
globalThis.fetch = async (url, {body, headers}) => {
  const sent = JSON.parse(body);
  log.asked.push({url, headers, key: sent.key});
  if (cut === "unsent") throw new TypeError("failed to fetch");
  const decisions = (sent.decisions || []).map((each) => {
    const arm = each.taken || "green";
    if (arm === "gone") return {problem: {status: 422, detail: "there is no arm"}};
    log.decisions[each.id] = (log.decisions[each.id] || 0) + 1;
    return {decision: {id: each.id, arm, propensity: 0.5, propensities: null}};
  });
  const rewards = (sent.rewards || []).map((each) => {
    log.rewards[each.report] = (log.rewards[each.report] || 0) + 1;
    return {status: 204, detail: ""};
  });
  if (cut === "unheard") throw new TypeError("lost");
  if (cut === "busy") return {ok: false, status: 503, json: async () => ({detail: "busy"})};
  return {ok: true, status: 200, json: async () => ({decisions, rewards})};
};
const kept = new Map();
const store = {
  getItem: (name) => kept.has(name) ? kept.get(name) : null,
  setItem: (name, text) => kept.set(name, text), removeItem: (name) => kept.delete(name),
  key: (i) => [...kept.keys()][i], get length() { return kept.size; },
};
console.warn = () => {};
const made = (more = {}) =>
  giro({bandit: "button", key: "k", url: "https://b", store, baseline: "red", ...more});
const assert = require("assert");
"""

GAMES = {
    "a decision is asked for once and stays for the visitor": """
        const first = await made().decide({country: "de"});
        assert.equal(first.arm, "green");
        assert.equal(first.fallback, false);
        assert.equal(log.asked[0].url, "https://b/v1/page");
        assert.equal(log.asked[0].headers["content-type"], "text/plain");
        const again = await made().decide({country: "de"});
        assert.equal(again.id, first.id);
        assert.equal(log.asked.length, 1);
        const later = await made({stay: -1}).decide();
        assert.notEqual(later.id, first.id);
    """,
    "a reward is for the visitor's choice, once": """
        const button = made();
        assert.throws(() => button.reward(1), /no decision yet/);
        await button.decide();
        assert.equal(await button.reward(1), 0);
        assert.deepEqual(Object.values(log.rewards), [1]);
        assert.throws(() => button.reward(NaN), /a number/);
    """,
    "while the service is away the baseline is shown, and told later": """
        cut = "unsent";
        const button = made();
        const decision = await button.decide();
        assert.deepEqual([decision.arm, decision.fallback], ["red", true]);
        assert.equal(await button.reward(1), 2);
        const calls = log.asked.length;
        await made({stay: -1}).decide();
        cut = "";
        const next = made();  // the next page
        assert.equal(await next.flush(), 0);
        assert.equal(log.decisions[decision.id], 1);
        assert.equal(Object.keys(log.decisions).length, 2);
        assert.deepEqual(Object.values(log.rewards), [1]);
    """,
    "an answer that is lost leaves what waits, under the same names": """
        const button = made();
        await button.decide();
        cut = "unheard";
        assert.equal(await button.reward(1), 1);
        cut = "busy";
        assert.equal(await button.flush(), 1);
        cut = "";
        assert.equal(await button.flush(), 0);
        assert.deepEqual(Object.values(log.rewards), [3]);  // one report, sent three times
    """,
    "what is refused is not sent again": """
        cut = "unsent";
        await made({baseline: "gone"}).decide();
        cut = "";
        assert.equal(await made().flush(), 0);
        assert.equal(made().waiting().length, 0);
    """,
    "after a failure the next decision does not wait": """
        cut = "unsent";
        const button = made({stay: -1});
        await button.decide();
        const calls = log.asked.length;
        await button.decide();
        await button.decide();
        assert.equal(log.asked.length, calls);
    """,
    "without an arm to take there is an error": """
        cut = "unsent";
        await assert.rejects(made({baseline: null}).decide(), /no baseline/);
        const first = await made({baseline: null}).decide({}, {arms: ["x", "y"]});
        assert.equal(first.arm, "x");
        assert.throws(() => giro({bandit: "button"}), /needs key/);
    """,
    "without storage it works for the page": """
        const button = giro({bandit: "button", key: "k", url: "https://b"});
        const decision = await button.decide();
        assert.equal((await button.decide()).id, decision.id);
        assert.equal(await button.reward(1), 0);
    """,
}


@pytest.mark.skipif(NODE is None, reason="Node is not installed")
@pytest.mark.parametrize("game", GAMES)
def test_in_node(game: str, tmp_path: Path) -> None:
    program = f"{WORLD}(async () => {{{GAMES[game]}}})().then(() => process.exit(0), (e) => {{"
    program += "console.error(e); process.exit(1); });"
    done = subprocess.run(
        [str(NODE), "-e", program, str(SCRIPT)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
