"""Problems."""

import pytest

from giro import BadParameter, Contradiction, StoreError, UnknownDecision, UnknownName
from giro.service.errors import Problem, problem_of


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Problem(418, "x"), 418),
        (UnknownDecision("x"), 404),
        (Contradiction("x"), 409),
        (StoreError("postgresql://secret"), 503),
        (UnknownName("arm", "x", known=["y"]), 422),
        (BadParameter("x"), 422),
        (RuntimeError("secret"), 500),
    ],
)
def test_errors_have_a_status_and_do_not_give_secrets_away(error: Exception, status: int) -> None:
    problem = problem_of(error)
    assert problem.status == status
    assert problem.to_json()["title"]
    assert "secret" not in problem.detail


def test_a_problem_says_when_to_come_back() -> None:
    assert Problem(503, "x", wait=0.2).headers == {"retry-after": "1"}
    assert Problem(401, "x").headers == {"www-authenticate": "Bearer"}
