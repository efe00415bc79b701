"""The handle by which a producer takes back a delayed message.

    URL-safe Base64, with padding, of `v1 <topic> <broker name> <deliver ms> <unique id>`

Agrees with Java's RecallMessageHandle.
"""

import base64
import binascii
import re
from dataclasses import dataclass

from aerobee.errors import LocalProtocolError, RemoteProtocolError

_VERSION = "v1"
_TEXT = re.compile(r"v1 ([^ ]+) ([^ ]+) ([0-9]{1,19}) ([^ ]+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class RecallHandle:
    topic: str
    broker_name: str
    deliver_ms: int
    unique_id: str


def encode_recall_handle(handle: RecallHandle) -> str:
    text = f"{_VERSION} {handle.topic} {handle.broker_name} {handle.deliver_ms} {handle.unique_id}"
    if not _TEXT.fullmatch(text):
        raise LocalProtocolError(f"{handle} has an empty part, one with a space, or a bad time")
    return base64.urlsafe_b64encode(text.encode()).decode()


def decode_recall_handle(handle: str) -> RecallHandle:
    try:
        text = base64.b64decode(handle, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise RemoteProtocolError("a recall handle that is no Base64 of UTF-8") from None
    found = _TEXT.fullmatch(text)
    if found is None:
        raise RemoteProtocolError(f"{text[:200]!r} is no recall handle")
    topic, broker_name, deliver_ms, unique_id = found.groups()
    return RecallHandle(topic, broker_name, int(deliver_ms), unique_id)
