"""VIEW_MESSAGE_BY_ID and QUERY_MESSAGE: find messages by log offset, key or unique id.

Records are checked before they are sent, unchanged. The index has hashes of keys only: records of
other topics are left out here, those with other keys by the client.
"""

from aerobee.protocol.headers.queries import (
    QueryMessageAnswerHeader,
    QueryMessageHeader,
    ViewMessageHeader,
)
from aerobee.protocol.message.record import WHOLE, Record
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.request import Answer, Request
from aerobee.storage.store import Store

UNIQUE_COUNT_MAX = 32  # of a query by unique id, whatever the client asks for
COUNT_MAX = 64
BYTES_MAX = 8 << 20  # clients take frames of 16 MiB


class QueryHandlers:
    def __init__(self, store: Store, bytes_max: int = BYTES_MAX) -> None:
        self._store = store
        self._bytes_max = bytes_max
        self._record = Record()

    def rows(self) -> list[Row]:
        lane = Lane.ADMIN
        return [
            row(RequestCode.VIEW_MESSAGE_BY_ID, ViewMessageHeader, self._view, lane),
            row(RequestCode.QUERY_MESSAGE, QueryMessageHeader, self._query, lane),
        ]

    def _view(self, request: Request, header: ViewMessageHeader) -> Answer:
        record = self._store.record_at(header.offset)
        if record is None:
            return Answer(
                ResponseCode.SYSTEM_ERROR, f"can not find message by the offset, {header.offset}"
            )
        return Answer(parts=[record])

    def _query(self, request: Request, header: QueryMessageHeader) -> Answer:
        count_max = UNIQUE_COUNT_MAX if header.is_unique_key else min(header.max_num, COUNT_MAX)
        found = self._store.records_by_key(
            header.topic.encode(),
            header.key.encode(),
            header.begin_timestamp,
            header.end_timestamp,
            max(0, count_max),
        )
        newest = self._record
        shown = _within(
            [record for record in found if self._is_of(record, header.topic.encode())],
            self._bytes_max,
        )
        if not shown or newest.read_from(shown[0], 0) != WHOLE:
            return Answer(
                ResponseCode.QUERY_NOT_FOUND,
                "can not find message, maybe time range not correct",
                write_header(QueryMessageAnswerHeader(0, 0)),
            )
        return Answer(
            fields=write_header(
                QueryMessageAnswerHeader(newest.store_timestamp, newest.log_offset)
            ),
            parts=shown,
        )

    def _is_of(self, record: memoryview, topic: bytes) -> bool:
        """Whether a record is of the topic: the hash of another topic's key may be the same, and
        whoever asks may be allowed to see this topic only."""
        found = self._record
        if found.read_from(record, 0) != WHOLE:
            return False
        return bytes(record[found.topic_start : found.topic_start + found.topic_size]) == topic


def _within(records: list[memoryview], bytes_max: int) -> list[memoryview]:
    """The first records that fit into the limit, at least one."""
    shown: list[memoryview] = []
    size = 0
    for record in records:
        size += len(record)
        if shown and size > bytes_max:
            break
        shown.append(record)
    return shown
