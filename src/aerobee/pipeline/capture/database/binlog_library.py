"""Adapter of `pymysqlreplication`, the library that reads binary logs, with its faults corrected.

The log is read by file and position only, also that of a MariaDB: told that the server is a
MariaDB, the library ignores the position, and by GTID it is disconnected again and again and
repeats events. It reconnects on its own, silently, for ever; here a lost connection is an error,
and the caller starts again from the last safe position.

Two of its methods are replaced. A TIME below zero with a fraction is one number in the log, not a
time and a fraction; labels of sets and enumerations are in their column's character set, not UTF-8.
"""

import codecs
from datetime import timedelta
from typing import Any

from aerobee.pipeline.capture.database.server import ServerAddress, connect_as_told
from aerobee.pipeline.capture.errors import DatabaseGone
from aerobee.pipeline.capture.position import Position

# Events that change rows and that the library does not read: they must not be passed over.
UNREAD_ROWS = frozenset({40, 165, 166, 167, 168, 169, 170, 171})


def open_stream(
    address: ServerAddress, start: Position, server_id: int, heartbeat_seconds: float | None
) -> Any:
    """Open a stream of events from a position on; `heartbeat_seconds` None: it ends at the end of
    the log."""
    from pymysqlreplication import BinLogStreamReader, event, row_event

    _repair(row_event)
    return BinLogStreamReader(
        connection_settings=address.settings(),
        server_id=server_id,
        resume_stream=True,
        log_file=start.file,
        log_pos=start.offset,
        blocking=heartbeat_seconds is not None,
        slave_heartbeat=heartbeat_seconds,
        only_events=[
            event.QueryEvent,
            event.RotateEvent,
            event.XidEvent,
            event.XAPrepareEvent,
            event.GtidEvent,
            event.MariadbGtidEvent,
            event.HeartbeatLogEvent,
            event.NotImplementedEvent,
            row_event.TableMapEvent,
            row_event.WriteRowsEvent,
            row_event.UpdateRowsEvent,
            row_event.DeleteRowsEvent,
            row_event.PartialUpdateRowsEvent,
        ],
        filter_non_implemented_events=False,
        is_mariadb=False,
        enable_logging=False,
        pymysql_wrapper=_Once(address),
    )


class _Once:
    """Lets the library open its log connection once, and its query connections as often as it
    needs."""

    def __init__(self, address: ServerAddress) -> None:
        self._address = address
        self._is_used = False

    def __call__(self, **settings: Any) -> Any:
        is_question = "db" in settings
        if self._is_used and not is_question:
            raise DatabaseGone(f"{self._address}: the connection ended", hint="is the database up?")
        self._is_used = self._is_used or not is_question
        return connect_as_told(**settings)


def _repair(row_event: Any) -> None:
    row_event.RowsEvent._RowsEvent__read_time2 = _read_time
    row_event.TableMapEvent._read_type_values = _read_labels


def _read_time(event: Any, column: Any) -> timedelta:
    """Read a TIME: hours, minutes, seconds in 10, 6 and 6 bits, then the fraction in as many bytes
    as it needs. All of it is one number, with half of the range of its bytes added to it."""
    fraction_bytes = (column.fsp + 1) // 2
    size = 3 + fraction_bytes
    number = int.from_bytes(event.packet.read(size), "big") - (1 << (8 * size - 1))
    whole, fraction = divmod(abs(number), 1 << (8 * fraction_bytes))
    value = timedelta(
        hours=whole >> 12 & 0x3FF,
        minutes=whole >> 6 & 0x3F,
        seconds=whole & 0x3F,
        microseconds=fraction * 10 ** (6 - 2 * fraction_bytes),
    )
    return -value if number < 0 else value


def _read_labels(event: Any, length: int) -> list[list[str]]:
    """Read labels as bytes held in a str: their character set is known only later."""
    packet = event.packet
    found = []
    end = packet.read_bytes + length
    while packet.read_bytes < end:
        count = packet.read_length_coded_binary()
        found.append(
            [
                packet.read_variable_length_string().decode("utf-8", "surrogateescape")
                for _ in range(count)
            ]
        )
    return found


def label_text(label: str, character_set: str | None) -> str:
    """Decode a label with the character set of its column."""
    raw = label.encode("utf-8", "surrogateescape")
    try:
        return raw.decode(codecs.lookup(character_set or "utf-8").name)
    except (LookupError, UnicodeDecodeError):
        return raw.decode("utf-8", "replace")
