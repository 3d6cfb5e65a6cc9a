"""Answers of a service, as errors."""

import pytest

from giro import BadParameter, Contradiction, GiroError, ServiceError, UnknownDecision
from giro.client.answers import Reply, check_success, content_of, decision_of, error_of


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, ServiceError),
        (403, ServiceError),
        (503, ServiceError),
        (404, BadParameter),
        (409, Contradiction),
        (410, BadParameter),
        (422, BadParameter),
    ],
)
def test_a_status_is_an_error_with_the_sentence(status: int, kind: type[GiroError]) -> None:
    with pytest.raises(kind, match="why") as error:
        check_success(Reply(status, b'{"detail": "why"}'))
    assert type(error.value) is kind
    assert getattr(error.value, "status", status) == status


def test_an_unknown_decision_is_named() -> None:
    assert isinstance(error_of(404, "why", id="x"), UnknownDecision)


def test_what_is_no_service_of_giro_is_said_to_be_none() -> None:
    with pytest.raises(ServiceError, match="no giro serve: status 200"):
        content_of(Reply(200, b"<html>"))
    for content in (b"<html>", b"[]", b"{}"):
        assert Reply(502, content).detail == "the service answers with status 502"


def test_a_decision_is_read() -> None:
    plain = {"id": "x", "arm": "red", "propensity": 0.5, "propensities": None}
    assert decision_of(plain) == ("x", "red", 0.5, None, False)
    assert content_of(Reply(204, b"")) is None
