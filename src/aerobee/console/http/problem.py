"""Problem: an error of the API, with its status, code, sentence and hint.

    {"error": {"code": "not_found", "message": "there is no topic 'x'", "hint": ""}}

Errors of the client library become problems here, in one place. The text of an unexpected error
stays in the log of the server: it may name paths.
"""

from aerobee.errors import (
    AerobeeError,
    Misuse,
    NoAnswer,
    NotFound,
    PartlyDone,
    ProtocolError,
    RemoteAnswer,
    RequestTimeout,
    TopicNotFound,
)
from aerobee.protocol.response_codes import ResponseCode

_ABSENT = frozenset(
    {
        ResponseCode.TOPIC_NOT_EXIST,
        ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
        ResponseCode.QUERY_NOT_FOUND,
    }
)


class Problem(AerobeeError):
    """An error that the API answers with."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        hint: str = "",
        retry_seconds: float | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code
        self.retry_seconds = retry_seconds

    def record(self) -> dict[str, object]:
        return {"error": {"code": self.code, "message": self.message, "hint": self.hint}}


def bad_request(message: str, *, hint: str = "") -> Problem:
    return Problem(400, "bad_request", message, hint=hint)


def not_found(message: str, *, hint: str = "") -> Problem:
    return Problem(404, "not_found", message, hint=hint)


def problem_of(error: AerobeeError) -> Problem:
    """Return what the API says of an error of the client library."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, PartlyDone):
        causes = [problem_of(one) for one in error.failed.values()]
        first = causes[0]
        alike = all(one.code == first.code for one in causes)
        status, code = (first.status, first.code) if alike else (502, "refused")
        return Problem(status, code, error.message, hint=error.hint or first.hint)
    status, code = _kind(error)
    return Problem(status, code, error.message, hint=error.hint)


def _kind(error: AerobeeError) -> tuple[int, str]:
    match error:
        case TopicNotFound() | NotFound():
            return 404, "not_found"
        case RemoteAnswer():
            if error.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
                return 501, "not_supported"
            return (404, "not_found") if error.code in _ABSENT else (502, "refused")
        case RequestTimeout():
            return 504, "timeout"
        case NoAnswer():
            return 502, "unreachable"
        case Misuse() | ProtocolError():
            return 400, "bad_request"
        case _:
            return 502, "refused"


def is_unsupported(error: AerobeeError) -> bool:
    """Whether a cluster does not know a request, as older brokers and Apache's do."""
    return problem_of(error).code == "not_supported"
