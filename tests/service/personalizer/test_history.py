"""The model and the logs of a loop."""

from collections.abc import Callable

from service.conftest import Client

Served = Callable[..., None]
V3 = "/personalizer/v1.1-preview.3"
RANK = {"actions": [{"id": word, "features": [{"taste": word}]} for word in "abcd"]}


def test_a_model_goes_from_one_loop_to_another(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post(f"{V3}/rank", RANK | {"eventId": "x"})
        await ask.post(f"{V3}/events/x/reward", {"value": 1.0})
        model = await ask("GET", f"{V3}/model")
        assert (model.status_code, model.headers["content-type"]) == (
            200,
            "application/octet-stream",
        )
        key = await ask.key(scopes=["admin"], loop="other")
        put = await ask("PUT", f"{V3}/model", key=key, content=model.content)
        assert put.status_code == 204
        shown = await ask.get("/v1/bandits/other")
        assert (shown["decisions"], shown["rewards"]) == (1, 1)
        again = await ask("PUT", f"{V3}/model", key=key, content=model.content)
        assert again.json()["error"]["code"] == "OperationNotAllowed"
        third = await ask.key(scopes=["admin"], loop="third")
        wrong = await ask("PUT", f"{V3}/model", key=third, content=b"vw")
        assert (wrong.status_code, wrong.json()["error"]["code"]) == (
            400,
            "InvalidModelImportFormat",
        )

    served(game)


def test_logs_have_a_range_and_can_be_deleted_and_a_model_cannot_without(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post(f"{V3}/rank", RANK | {"eventId": "x"})
        dates = (await ask.get(f"{V3}/logs/properties"))["dateRange"]
        times = await ask.get(f"{V3}/model/properties")
        assert [dates["from"], dates["to"]] == [times["creationTime"], times["lastModifiedTime"]]
        refused = await ask("DELETE", f"{V3}/model")
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "ModelResetFailed")
        assert (await ask("DELETE", f"{V3}/logs")).status_code == 204
        assert (await ask.get("/v1/bandits/default"))["decisions"] == 0

    served(game)
