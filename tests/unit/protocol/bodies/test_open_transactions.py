import json

import pytest

from aerobee.errors import ProtocolError
from aerobee.protocol.bodies.open_transactions import (
    OpenTransaction,
    decode_open_transactions,
    encode_open_transactions,
)

ONE = OpenTransaction(
    7, 81_505, "g", "Orders", 1, "C0", "7F", 1_700_000_000_000, 1_700_000_000_005, 3, 5_995, True
)


def test_a_list_is_read_as_it_was_written() -> None:
    other = ONE._replace(queue_offset=9, next_check_ms=-1, is_group_online=False)
    body = encode_open_transactions(12, 10, [ONE, other])
    assert decode_open_transactions(body) == (12, 10, [ONE, other])


def test_the_names_are_those_that_the_page_of_formats_has() -> None:
    (row,) = json.loads(encode_open_transactions(1, -1, [ONE]))["transactions"]
    assert row == {
        "queueOffset": 7,
        "commitLogOffset": 81_505,
        "producerGroup": "g",
        "topic": "Orders",
        "queueId": 1,
        "msgId": "C0",
        "offsetMsgId": "7F",
        "bornTimestamp": 1_700_000_000_000,
        "storeTimestamp": 1_700_000_000_005,
        "checkTimes": 3,
        "nextCheckMs": 5_995,
        "isGroupOnline": True,
    }


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"openCount":1,"nextOffset":"x"}'])
def test_what_is_no_list_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_open_transactions(body)
