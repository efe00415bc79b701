"""Header fields of RECALL_MESSAGE, which recalls a delayed message.

Agrees with Java's RecallMessageRequestHeader.
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import on_wire


@dataclass(frozen=True, slots=True)
class RecallHeader:
    topic: str
    recall_handle: str
    """What the answer to the send said."""
    producer_group: str | None = None
    broker_name: str | None = on_wire("bname", default=None)
