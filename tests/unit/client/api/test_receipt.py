import asyncio

import pytest

from aerobee.client.api.receipt import (
    DURABILITIES,
    BatchReceipt,
    Durability,
    LongBatchReceipt,
    Receipt,
)
from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue, QueueId

QUEUE = MessageQueue("t", "a", QueueId(1))


def test_the_codes_of_what_is_stored_say_whether_the_promise_was_kept() -> None:
    assert DURABILITIES == {
        0: Durability.PROMISED,
        10: Durability.NOT_FLUSHED,
        11: Durability.NOT_REPLICATED,
        12: Durability.NOT_REPLICATED,
    }


def test_a_receipt_shows_where_the_message_is() -> None:
    shown = repr(Receipt("U", "O", QUEUE, 7, Durability.NOT_FLUSHED))
    assert shown == "Receipt(U, t@a:1, offset 7, not flushed in time)"


def test_a_message_without_a_handle_cannot_be_taken_back() -> None:
    with pytest.raises(Misuse, match="cannot be taken back"):
        asyncio.run(Receipt("U", "O", QUEUE, 7).cancel())


def test_taking_back_hands_over_the_receipt() -> None:
    taken = []

    async def recall(receipt: Receipt) -> None:
        taken.append(receipt)

    receipt = Receipt("U", "O", QUEUE, 7, recall_handle="H", recall=recall)
    asyncio.run(receipt.cancel())
    assert taken == [receipt]


def test_the_receipt_of_a_batch_is_one_for_each_message_in_order() -> None:
    batch = BatchReceipt(["U", "V", "W"], "O,P,Q", QUEUE, 5)
    assert [(one.message_id, one.offset_id, one.offset) for one in batch] == [
        ("U", "O", 5),
        ("V", "P", 6),
        ("W", "Q", 7),
    ]
    assert batch[-1].offset == 7
    assert [one.message_id for one in batch[1:]] == ["V", "W"]
    with pytest.raises(IndexError):
        batch[3]


def test_a_batch_that_is_one_record_has_one_offset_id_for_all() -> None:
    batch = BatchReceipt(["U", "V"], "O", QUEUE, 5)
    assert [one.offset_id for one in batch] == ["O", "O"]


def test_the_receipt_of_a_batch_in_several_requests_is_one_for_each_message_in_order() -> None:
    other = MessageQueue("t", "a", QueueId(2))
    parts = [
        BatchReceipt(["U", "V"], "O,P", QUEUE, 5),
        BatchReceipt(["W"], "Q", other, 90),
        BatchReceipt(["X", "Y"], "R,S", QUEUE, 7),
    ]
    batch = LongBatchReceipt(parts)
    expected = [("U", 5), ("V", 6), ("W", 90), ("X", 7), ("Y", 8)]
    assert [(one.message_id, one.offset) for one in batch] == expected
    numbers = range(len(batch))
    assert [(batch[n].message_id, batch[n].offset) for n in numbers] == expected
    assert [batch[-n - 1].message_id for n in numbers] == ["Y", "X", "W", "V", "U"]
    assert [one.message_id for one in batch[1:4]] == ["V", "W", "X"]
    assert batch[2].queue == other
    assert batch.parts == parts
    assert repr(batch) == "LongBatchReceipt(5 messages in 3 requests)"
    with pytest.raises(IndexError):
        batch[5]
