"""Rows and details of messages, as the pages and exports show them.

A row has the beginning of a body, a detail everything that the record says.
"""

from typing import Any

from aerobee.console.message.body_schema import BodySchema
from aerobee.console.message.body_view import kind_of_body, preview_of, view_of
from aerobee.model.flags import TransactionType, compression_type
from aerobee.model.message import StoredMessage
from aerobee.model.properties import is_reserved

Row = dict[str, Any]


def message_row(message: StoredMessage, broker: str, schema: BodySchema | None = None) -> Row:
    """Return a row of a list; bodies that fit a schema are shown by it."""
    return {
        "id": message.message_id,
        "offset_id": message.offset_message_id,
        "topic": message.topic,
        "broker": broker,
        "queue": message.queue_id,
        "offset": message.queue_offset,
        "stored": message.store_timestamp,
        "born": message.born_timestamp,
        "tag": message.tag,
        "keys": list(message.keys),
        "size": len(message.body),
        "attempt": message.reconsume_times + 1,
        "preview": preview_of(message.body, schema),
        "kind": kind_of_body(message.body),
    }


def message_detail(message: StoredMessage, broker: str) -> Row:
    """Return everything that a record says, without its body."""
    own = {name: text for name, text in message.properties.items() if not is_reserved(name)}
    system = {name: text for name, text in message.properties.items() if is_reserved(name)}
    return {
        **message_row(message, broker),
        "born_host": f"{message.born_host.address}:{message.born_host.port}",
        "store_host": host_of(message),
        "log_offset": message.log_offset,
        "flags": list(_flags(message)),
        "headers": own,
        "properties": system,
    }


def body_row(body: bytes, schema: BodySchema | None = None) -> Row:
    """Return a body in every format that it can be read in."""
    view = view_of(body, schema)
    return {
        "size": len(body),
        "kind": view.kind,
        "shown": view.shown,
        "why": view.why,
        "truncated": view.is_truncated,
    }


def host_of(message: StoredMessage) -> str:
    return f"{message.store_host.address}:{message.store_host.port}"


def _flags(message: StoredMessage) -> list[str]:
    found = []
    kind = message.transaction_type
    if kind is not TransactionType.NONE:
        found.append(f"transaction {kind.name.lower()}")
    compression = compression_type(message.sys_flag)
    if compression is not None:
        found.append(f"compressed by {compression.name.lower()}")
    return found
