"""Header fields of requests for single messages, by log offset and by key, and of their answers.

The messages are in the body.
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import Int32, Int64, on_wire


@dataclass(frozen=True, slots=True)
class ViewMessageHeader:
    offset: Int64


@dataclass(frozen=True, slots=True)
class QueryMessageHeader:
    topic: str
    key: str
    max_num: Int32
    begin_timestamp: Int64 = 0
    end_timestamp: Int64 = 2**63 - 1
    is_unique_key: bool = on_wire("_UNIQUE_KEY_QUERY", default=False)


@dataclass(frozen=True, slots=True)
class QueryMessageAnswerHeader:
    index_last_update_timestamp: Int64
    index_last_update_phyoffset: Int64
