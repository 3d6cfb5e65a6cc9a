"""Keys over HTTP."""

from collections.abc import Callable

from service.conftest import SECRET, Client

Served = Callable[..., None]


def test_a_key_is_made_used_replaced_and_revoked(served: Served) -> None:
    async def game(ask: Client) -> None:
        made = await ask("POST", "/v1/keys", {"scopes": ["read"], "note": "for ann"})
        assert made.status_code == 201
        secret, id = made.json()["secret"], made.json()["id"]
        assert (await ask("GET", "/v1/bandits", key=secret)).status_code == 200
        shown = (await ask.get("/v1/keys"))["keys"]
        assert {"for ann", ""} == {key["note"] for key in shown}
        assert not any("hash" in key or secret in str(key) for key in shown)
        second = await ask.post("/v1/keys", {"replace": id, "overlap": 100})
        for each in (secret, second["secret"]):
            assert (await ask("GET", "/v1/bandits", key=each)).status_code == 200
        assert (await ask("DELETE", f"/v1/keys/{id}")).status_code == 204
        assert (await ask("GET", "/v1/bandits", key=secret)).status_code == 401
        assert (await ask("DELETE", f"/v1/keys/{id}")).status_code == 404

    served(game)


def test_only_who_may_do_everything_may_make_keys(served: Served) -> None:
    async def game(ask: Client) -> None:
        own = ask.service.keys.key_of(SECRET).id
        for limits in ({"bandits": ["a*"]}, {"scopes": ["decide", "reward", "read"]}):
            key = await ask.key(**limits)
            for method, path, body in (
                ("POST", "/v1/keys", {}),
                ("GET", "/v1/keys", None),
                ("DELETE", f"/v1/keys/{own}", None),
            ):
                assert (await ask(method, path, body, key=key)).status_code == 403
        assert (await ask("POST", "/v1/keys", {"scopes": ["all"]})).status_code == 422

    served(game)
