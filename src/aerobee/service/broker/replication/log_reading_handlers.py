"""READ_LOG: hands out bytes of the commit log to replicas, which compare and repair theirs by them,
and the term of the tables, which a replica that takes over must exceed.

Bytes up to the end of the log are handed out, also those that are not confirmed yet: a replica that
has them must not take them for a difference.
"""

from aerobee.protocol.headers.log_reading import (
    READ_LOG_BYTES_MAX,
    LogRangeHeader,
    ReadLogHeader,
)
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.groups import Groups
from aerobee.service.broker.state.topics import Topics
from aerobee.service.request import Answer, Request
from aerobee.storage.store import Store


class LogReadingHandlers:
    def __init__(self, store: Store, topics: Topics, groups: Groups) -> None:
        self._store = store
        self._topics = topics
        self._groups = groups

    def rows(self) -> list[Row]:
        return [row(RequestCode.READ_LOG, ReadLogHeader, self._read, Lane.ADMIN)]

    def _read(self, request: Request, header: ReadLogHeader) -> Answer:
        store = self._store
        if not 0 < header.size <= READ_LOG_BYTES_MAX:
            return Answer(
                ResponseCode.INVALID_PARAMETER,
                f"{header.size} bytes cannot be read: ask for 1 to {READ_LOG_BYTES_MAX}",
            )
        if not store.min_offset <= header.offset <= store.end_offset:
            return Answer(
                ResponseCode.SYSTEM_ERROR,
                f"the log has no byte at {header.offset}: it begins at {store.min_offset} and "
                f"ends at {store.end_offset}",
            )
        found = store.log_slices(header.offset, header.size)
        term = max(self._topics.version.state_version, self._groups.version.state_version)
        fields = write_header(LogRangeHeader(store.min_offset, store.end_offset, term))
        return Answer(fields=fields, parts=[found])
