"""The OpenAPI document of all endpoints, from their types, and a page that shows it."""

import html
import inspect
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from starlette.routing import Route

import giro
from giro.service.endpoint import OWN, Endpoint

_PARAMETER = re.compile(r"{(\w+)(?::\w+)?}")
_PROBLEMS = {
    "400": "not JSON",
    "401": "no valid key",
    "403": "the key does not allow it",
    "404": "not there",
    "408": "too slow",
    "409": "it contradicts the past",
    "410": "retired",
    "413": "too large",
    "422": "not as wanted",
    "429": "too often",
    "503": "too busy: try again",
}


def document(routes: Sequence[Route]) -> dict[str, Any]:
    """Return the document of those routes that lead to an `Endpoint`."""
    endpoints = list(_endpoints(routes))
    types = [OWN.problem] + [
        t for *_, e in endpoints for t in (e.body, e.answer, e.door.problem) if t is not None
    ]
    schemas, components = msgspec.json.schema_components(
        types, ref_template="#/components/schemas/{name}"
    )
    by_type = dict(zip(map(repr, types), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for method, path, endpoint in endpoints:
        operation = _operation(path, endpoint, by_type)
        paths.setdefault(_PARAMETER.sub(r"{\1}", path), {})[method] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "giro", "version": giro.__version__},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                **{
                    e.door.scheme: {"type": "apiKey", "in": "header", "name": e.door.scheme}
                    for *_, e in endpoints
                },
            },
        },
    }


def _endpoints(routes: Sequence[Route]) -> Iterator[tuple[str, str, Endpoint]]:
    for route in routes:
        if isinstance(route.endpoint, Endpoint):
            methods = (route.methods or set()) - {"HEAD"}
            for method in sorted(methods):
                yield method.lower(), route.path, route.endpoint


def _operation(path: str, endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    text = inspect.getdoc(endpoint.handler) or ""
    summary, _, description = text.partition("\n")
    statuses = [status for status in (endpoint.status, endpoint.also) if status is not None]
    answers: dict[str, Any] = {str(s): _content(endpoint.answer, schemas) for s in statuses}
    door = endpoint.door
    problem = {door.problem_type: {"schema": schemas[repr(door.problem)]}}
    answers |= {
        status: {"description": words, "content": problem} for status, words in _PROBLEMS.items()
    }
    nowhere = {OWN.problem_type: {"schema": schemas[repr(OWN.problem)]}}
    answers["404"]["content"] = problem | nowhere  # where no route leads
    operation: dict[str, Any] = {"summary": summary, "responses": answers}
    if description.strip():
        operation["description"] = " ".join(description.split())
    if parameters := _parameters(path, endpoint):
        operation["parameters"] = parameters
    if endpoint.body is not None:
        schema = schemas[repr(endpoint.body)]
        media_type = "application/octet-stream" if endpoint.body is bytes else "application/json"
        content = {media_type: {"schema": schema}}
        operation["requestBody"] = {"required": True, "content": content}
    if endpoint.needs_key:
        operation["security"] = [{"bearer": []}, {door.scheme: []}]
    return operation


def _parameters(path: str, endpoint: Endpoint) -> list[dict[str, Any]]:
    """Return those of the path, and others, as the endpoint describes them."""
    text = {"in": "path", "required": True, "schema": {"type": "string"}}
    in_path: dict[str, dict[str, Any]] = {name: text for name in _PARAMETER.findall(path)}
    return [{"name": name} | each for name, each in (in_path | endpoint.parameters).items()]


def _content(answer: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    if answer is None:
        return {"description": "done"}
    binary: dict[str, Any] = {"application/octet-stream": {}}
    plain = {"application/json": {"schema": schemas[repr(answer)]}}
    content = binary if answer is bytes else plain
    return {"description": "done", "content": content}


def page(document: dict[str, Any]) -> bytes:
    """Return a page that shows a document. It asks nobody for anything."""
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><title>giro: the API</title><style>"
        "body{font:16px/1.5 system-ui;max-width:50rem;margin:2rem auto;padding:0 1rem}"
        "code,pre{font:14px ui-monospace,monospace}pre{background:#8881;padding:.5rem;"
        "overflow:auto}</style><h1>giro: the API</h1>"
        "<p>Machines read <a href=openapi.json>openapi.json</a>. Keys come as "
        "<code>Authorization: Bearer KEY</code> or <code>X-API-Key: KEY</code>.</p>"
    ]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            parts.append(f"<h2><code>{method.upper()} {html.escape(path)}</code></h2>")
            parts.append(f"<p>{html.escape(operation['summary'])}</p>")
            parts.append(f"<p>{html.escape(operation.get('description', ''))}</p>")
            parts += _shown_body(operation, document)
    return "".join(parts).encode()


def _shown_body(operation: dict[str, Any], document: dict[str, Any]) -> list[str]:
    body = operation.get("requestBody")
    if body is None:
        return []
    schema = next(iter(body["content"].values()))["schema"]
    names = re.findall(r"#/components/schemas/([\w.]+)", msgspec.json.encode(schema).decode())
    shown = []
    for name in dict.fromkeys(names):
        fields = document["components"]["schemas"][name]
        lines = [f"{key}: {_kind(value)}" for key, value in fields["properties"].items()]
        shown.append(f"<pre>{html.escape(chr(10).join(lines))}</pre>")
    return shown


def _kind(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " | ".join(_kind(each) for each in schema["anyOf"])
    return str(schema.get("type") or schema.get("$ref", "any").rpartition("/")[2])
