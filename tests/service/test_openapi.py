"""The document of the API against the running service."""

from collections.abc import Callable
from typing import Any

from service.conftest import Client

Served = Callable[..., None]
HAS_TYPE = {
    "null": lambda x: x is None,
    "boolean": lambda x: isinstance(x, bool),
    "integer": lambda x: isinstance(x, int) and not isinstance(x, bool),
    "number": lambda x: isinstance(x, int | float) and not isinstance(x, bool),
    "string": lambda x: isinstance(x, str),
    "array": lambda x: isinstance(x, list),
    "object": lambda x: isinstance(x, dict),
}


def follows(value: Any, schema: dict[str, Any], document: dict[str, Any]) -> bool:
    """Return whether a value follows a schema of the kind that the document has."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return follows(value, document["components"]["schemas"][name], document)
    if "anyOf" in schema:
        return any(follows(value, each, document) for each in schema["anyOf"])
    if "type" in schema and not HAS_TYPE[schema["type"]](value):
        return False
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return all(follows(each, schema["items"], document) for each in value)
    if not isinstance(value, dict):
        return True
    known, more = schema.get("properties", {}), schema.get("additionalProperties", {})
    more = more if isinstance(more, dict) else {}
    return set(schema.get("required", [])) <= value.keys() and all(
        follows(each, known.get(key, more), document) for key, each in value.items()
    )


GAME = [  # a request for every path that answers with JSON
    ("post", "/v1/bandits", {"name": "b", "arms": ["x", "y"], "policy": "ucb1"}),
    ("get", "/v1/bandits", None),
    ("get", "/v1/bandits/{name}", None),
    ("post", "/v1/bandits/{name}/decisions", {"id": "d"}),
    ("post", "/v1/bandits/{name}/decisions", [{}, {"arms": ["z"]}]),
    ("post", "/v1/bandits/{name}/rankings", {"slots": 2}),
    ("post", "/v1/bandits/{name}/rewards", [{"id": "d", "value": 1}, {"id": "e", "value": 1}]),
    ("get", "/v1/bandits/{name}/summary", None),
    ("get", "/v1/bandits/{name}/evaluations", None),
    ("delete", "/v1/bandits/{name}/decisions", {"ids": ["d"]}),
    ("get", "/livez", None),
    ("get", "/readyz", None),
]


def test_answers_are_as_the_document_says(served: Served) -> None:
    async def game(ask: Client) -> None:
        document = await ask.get("/openapi.json")
        for method, path, body in GAME:
            answer = await ask(method.upper(), path.format(name="b"), body)
            operation = document["paths"][path][method]
            described = operation["responses"][str(answer.status_code)]
            schema = described["content"]["application/json"]["schema"]
            assert answer.is_success and follows(answer.json(), schema, document), answer.text
            assert not follows({"other": 1}, schema, document)
            if body is not None:
                asked = operation["requestBody"]["content"]["application/json"]["schema"]
                assert follows(body, asked, document)
        wrong = await ask("POST", "/v1/bandits", {"name": "no name"})
        problem = document["paths"]["/v1/bandits"]["post"]["responses"]["422"]["content"]
        schema = problem["application/problem+json"]["schema"]
        assert wrong.status_code == 422 and follows(wrong.json(), schema, document)

    served(game)


def test_every_reference_leads_somewhere_and_every_path_is_described(served: Served) -> None:
    def references(value: Any) -> set[str]:
        if isinstance(value, dict):
            own = {value["$ref"]} if "$ref" in value else set()
            return own.union(*map(references, value.values()))
        return set().union(*map(references, value)) if isinstance(value, list) else set()

    async def game(ask: Client) -> None:
        document = await ask.get("/openapi.json")
        names = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
        assert references(document) <= names
        for path, methods in document["paths"].items():
            for operation in methods.values():
                assert operation["summary"].endswith("."), path

    served(game)


def test_the_page_asks_nobody_for_anything(served: Served) -> None:
    async def game(ask: Client) -> None:
        page = (await ask("GET", "/docs", key=None)).text
        assert "/v1/bandits/{name}/decisions" in page
        for asking in ("http:", "https:", "src=", "<script", "<link", "@import"):
            assert asking not in page

    served(game)
