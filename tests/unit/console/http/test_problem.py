import pytest

from aerobee.console.http.problem import Problem, bad_request, is_unsupported, not_found, problem_of
from aerobee.errors import (
    AerobeeError,
    Misuse,
    NotFound,
    PartlyDone,
    Refused,
    RequestTimeout,
    TopicNotFound,
    Unreachable,
)
from aerobee.protocol.response_codes import ResponseCode

UNSUPPORTED = Refused("no", code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (bad_request("x"), 400, "bad_request"),
        (not_found("x"), 404, "not_found"),
        (TopicNotFound("x", topic="x"), 404, "not_found"),
        (NotFound("x"), 404, "not_found"),
        (Misuse("x"), 400, "bad_request"),
        (Refused("x", code=ResponseCode.SYSTEM_ERROR), 502, "refused"),
        (Refused("x", code=ResponseCode.TOPIC_NOT_EXIST), 404, "not_found"),
        (UNSUPPORTED, 501, "not_supported"),
        (RequestTimeout("x", address="a"), 504, "timeout"),
        (Unreachable("x", address="a"), 502, "unreachable"),
        (AerobeeError("x"), 502, "refused"),
        (PartlyDone(done={}, failed={"a": UNSUPPORTED, "b": UNSUPPORTED}), 501, "not_supported"),
        (PartlyDone(done={}, failed={"a": UNSUPPORTED, "b": Misuse("x")}), 502, "refused"),
    ],
)
def test_every_error_has_a_status_and_a_code(error: AerobeeError, status: int, code: str) -> None:
    problem = problem_of(error)
    assert (problem.status, problem.code) == (status, code)
    assert is_unsupported(error) == (code == "not_supported")


def test_the_record_says_what_is_wrong_and_what_to_do() -> None:
    problem = problem_of(Misuse("the topic is blank", hint="say its name"))
    assert problem.record() == {
        "error": {
            "code": "bad_request",
            "message": "the topic is blank",
            "hint": "say its name",
        }
    }
    assert problem_of(Problem(409, "conflict", "x")).code == "conflict"
