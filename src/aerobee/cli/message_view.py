"""Formats messages for the output of commands.

A body is shown as text. A body that is no text is shown as bytes to people, and as base64 under
another name to programs, so that nothing is lost.
"""

import argparse
import sys
from base64 import b64encode
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import write_shown
from aerobee.cli.moments import shown_ms
from aerobee.cli.output import (
    NDJSON,
    TABLE,
    YAML,
    Record,
    Whole,
    width_of,
    write_records,
    write_report,
)

if TYPE_CHECKING:
    from aerobee.model.message import StoredMessage

_BODY_CHARS = 60
_BRIEF = ("id", "stored", "tag", "keys", "body")


def message_record(message: "StoredMessage") -> dict[str, object]:
    """Return all fields of a message."""
    from aerobee.model.properties import is_reserved

    record: dict[str, object] = {
        "id": Whole(message.message_id),
        "offset_id": message.offset_message_id,
        "topic": message.topic,
        "queue": message.queue_id,
        "offset": message.queue_offset,
        "stored": shown_ms(message.store_timestamp),
        "born": shown_ms(message.born_timestamp),
        "born_host": f"{message.born_host.address}:{message.born_host.port}",
        "store_host": f"{message.store_host.address}:{message.store_host.port}",
        "attempt": message.reconsume_times + 1,
        "tag": message.tag,
        "keys": list(message.keys),
        "headers": {
            name: text for name, text in message.properties.items() if not is_reserved(name)
        },
        "properties": {
            name: text for name, text in message.properties.items() if is_reserved(name)
        },
    }
    record.update(body_fields(message.body))
    return record


def body_fields(body: bytes) -> dict[str, object]:
    """Return the body, under a name that tells its encoding."""
    try:
        return {"body": body.decode()}
    except UnicodeDecodeError:
        return {"body_base64": b64encode(body).decode()}


def shown_body(body: bytes) -> str:
    """Format a body for people: binary data is described, and cut."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        shown = body[: _BODY_CHARS // 2].hex()
        return f"0x{shown}{'…' if len(body) > _BODY_CHARS // 2 else ''} ({len(body)} bytes)"


def write_messages(
    parsed: argparse.Namespace,
    messages: "list[StoredMessage]",
    *,
    empty: str,
    is_one: bool = False,
) -> None:
    """Print messages: of many a table with the important fields; `is_one`: all fields of one."""
    if parsed.output != TABLE:
        write_records([_same_fields(one) for one in messages], parsed.output, sys.stdout)
    elif is_one and messages:
        width = width_of(sys.stdout, is_wide=parsed.wide)
        report = {**message_record(messages[0]), "body": shown_body(messages[0].body)}
        report.pop("body_base64", None)
        write_report(report, TABLE, sys.stdout, width=width)
    else:
        records = [{**message_record(one), "body": shown_body(one.body)} for one in messages]
        brief = [{name: record[name] for name in _BRIEF} for record in records]
        write_shown(parsed, brief, empty=empty)


class Tail:
    """Prints messages one by one, as they come."""

    def __init__(self, form: str) -> None:
        self._form = form
        self._is_first = True

    def write(self, record: Record, line: str) -> None:
        """Print a message; `line` is the form for people."""
        if self._form == TABLE:
            sys.stdout.write(line + "\n")
        elif self._form == YAML or (self._is_first and self._form == "csv"):
            write_records([record], self._form, sys.stdout)
        elif self._form == "csv":
            write_records([record], self._form, sys.stdout, has_heading=False)
        else:
            write_records([record], NDJSON, sys.stdout)
        self._is_first = False
        sys.stdout.flush()


def _same_fields(message: "StoredMessage") -> Record:
    """Add both names of a body: records of one list have the same fields."""
    return {"body": None, "body_base64": None, **message_record(message)}
