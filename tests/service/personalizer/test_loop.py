"""Keys and problems as Personalizer has them."""

import pytest

from giro.service.errors import Problem
from giro.service.personalizer.loop import Refusal, door_with


def test_a_key_comes_in_the_header_of_azure_or_as_a_bearer() -> None:
    key_in = door_with("").key_in
    assert key_in({"ocp-apim-subscription-key": "a", "authorization": "Bearer b"}) == "a"
    assert key_in({"authorization": "bearer b"}) == "b"
    assert key_in({"authorization": "Basic b"}) is None


@pytest.mark.parametrize(
    ("problem", "status", "code"),
    [
        (Problem(422, "x"), 400, "Own"),
        (Problem(409, "x"), 400, "Own"),
        (Refusal("Other", "x"), 400, "Other"),
        (Problem(413, "x"), 413, "PayloadSizeExceeded"),
        (Problem(503, "x", wait=1), 503, "InternalServerError"),
        (Problem(500, "x"), 500, "InternalServerError"),
    ],
)
def test_problems_have_codes(problem: Problem, status: int, code: str) -> None:
    answer = door_with("Own").written(problem)
    assert (answer.status, answer.content["error"]["code"]) == (status, code)
    assert answer.headers["x-ms-error-code"] == code
