"""Shared by topic and group requests: pages of a table, and the answer to a change.

Clients of 5.3.3 and newer ask for a table page by page, in the order of names, and send the version
with which they began: if it is outdated, they get the first page again.
"""

from collections.abc import Sequence
from typing import TypeVar

from aerobee.errors import RemoteProtocolError
from aerobee.model.topic import DataVersion
from aerobee.protocol.bodies.topic_config import decode_data_version
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.request import Answer, Request
from aerobee.storage.metadata.saved_value import Done

PAGE_ROWS_MAX = 2000

T = TypeVar("T")


def page_of(
    rows: Sequence[T],
    version: DataVersion,
    start: int | None,
    count: int | None,
    version_text: str | None,
) -> Sequence[T]:
    """The rows that a request asks for; all rows if it has no page fields."""
    if start is None and count is None and version_text is None:
        return rows
    wanted = PAGE_ROWS_MAX if count is None else max(0, min(count, PAGE_ROWS_MAX))
    first = 0
    if version_text and decode_data_version(version_text.encode()) == version:
        first = max(0, start or 0)
    return rows[first : first + wanted]


def answer_change(request: Request) -> Done:
    """The callback that answers a request when its change was saved or refused."""

    def done(error: BaseException | None) -> None:
        if isinstance(error, RemoteProtocolError):
            request.answer(Answer(ResponseCode.SYSTEM_ERROR, error.message))
        else:
            request.answer_when_saved(error)

    return done


def invalid(fault: str) -> Answer:
    return Answer(ResponseCode.INVALID_PARAMETER, fault)
