"""Header fields of a send, SEND_MESSAGE_V2 and SEND_BATCH_MESSAGE, and of its answer.

Agrees with Java's SendMessageRequestHeaderV2, whose fields bear one letter each, and
SendMessageResponseHeader. A broker reads sends by `send_header` and writes most answers by
`send_answer_writer`: these are for clients.
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import Int32, Int64, on_wire


@dataclass(frozen=True, slots=True)
class SendV2Header:
    producer_group: str = on_wire("a")
    topic: str = on_wire("b")
    queue_id: Int32 = on_wire("e")
    sys_flag: Int32 = on_wire("f")
    born_timestamp: Int64 = on_wire("g")
    properties: str = on_wire("i")
    default_topic: str = on_wire("c", default="TBW102")
    """The topic whose settings a new one gets."""
    default_topic_queue_nums: Int32 = on_wire("d", default=4)
    flag: Int32 = on_wire("h", default=0)
    reconsume_times: Int32 = on_wire("j", default=0)
    unit_mode: bool = on_wire("k", default=False)
    max_reconsume_times: Int32 | None = on_wire("l", default=None)
    is_batch: bool = on_wire("m", default=False)
    broker_name: str | None = on_wire("n", default=None)


@dataclass(frozen=True, slots=True)
class SentHeader:
    """The answer to a send: ids, queue and offset of the stored message."""

    queue_id: Int32
    queue_offset: Int64
    """Of the first message."""
    message_ids: str = on_wire("msgId")
    """Offset ids, joined by commas: one for each message of a batch."""
    transaction_id: str = ""
    recall_handle: str = ""
