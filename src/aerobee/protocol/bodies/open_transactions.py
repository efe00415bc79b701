"""Open transactions, as LIST_OPEN_TRANSACTIONS shows them: JSON.

{"openCount":2,"nextOffset":-1,"transactions":[{"queueOffset":7,"commitLogOffset":81505,
 "producerGroup":"g","topic":"Orders","queueId":1,"msgId":"C0…","offsetMsgId":"7F…",
 "bornTimestamp":1700000000000,"storeTimestamp":1700000000005,"checkTimes":0,"nextCheckMs":5995,
 "isGroupOnline":true}]}

`nextOffset` is where the next page begins, -1 after the last. `msgId` is the sender's id; it, the
group and both offsets are what an END_TRANSACTION by hand needs.
"""

from collections.abc import Iterable
from typing import NamedTuple

from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value, parse, write_compact

NO_MORE = -1


class OpenTransaction(NamedTuple):
    queue_offset: int
    commit_log_offset: int
    group: str
    topic: str
    queue_id: int
    message_id: str
    offset_message_id: str
    born_timestamp: int
    store_timestamp: int
    check_times: int
    """How often its producers were asked."""
    next_check_ms: int
    """Until they are asked (again); -1: when one of them is there."""
    is_group_online: bool


class OpenTransactions(NamedTuple):
    open_count: int
    """Of all groups."""
    next_offset: int
    transactions: list[OpenTransaction]


def encode_open_transactions(
    open_count: int, next_offset: int, transactions: Iterable[OpenTransaction]
) -> bytes:
    return write_compact(
        {
            "openCount": open_count,
            "nextOffset": next_offset,
            "transactions": [_json(one) for one in transactions],
        }
    )


def decode_open_transactions(body: bytes) -> OpenTransactions:
    members = Members(parse(body), "the list")
    rows = [Members(row, "a transaction") for row in members.array("transactions")]
    return OpenTransactions(
        members.int64("openCount"), members.int64("nextOffset"), [_read(row) for row in rows]
    )


def _json(one: OpenTransaction) -> dict[str, Value]:
    return {
        "queueOffset": one.queue_offset,
        "commitLogOffset": one.commit_log_offset,
        "producerGroup": one.group,
        "topic": one.topic,
        "queueId": one.queue_id,
        "msgId": one.message_id,
        "offsetMsgId": one.offset_message_id,
        "bornTimestamp": one.born_timestamp,
        "storeTimestamp": one.store_timestamp,
        "checkTimes": one.check_times,
        "nextCheckMs": one.next_check_ms,
        "isGroupOnline": one.is_group_online,
    }


def _read(row: Members) -> OpenTransaction:
    return OpenTransaction(
        row.int64("queueOffset"),
        row.int64("commitLogOffset"),
        row.text("producerGroup"),
        row.text("topic"),
        row.int32("queueId"),
        row.text("msgId"),
        row.text("offsetMsgId"),
        row.int64("bornTimestamp"),
        row.int64("storeTimestamp"),
        row.int32("checkTimes"),
        row.int64("nextCheckMs"),
        row.is_true("isGroupOnline"),
    )
