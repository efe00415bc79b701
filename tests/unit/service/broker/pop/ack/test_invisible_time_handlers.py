from aerobee.errors import StoreBusy
from aerobee.protocol.consume.pop_receipt import PopReceipt, encode_pop_receipt
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from tests.pop_kit import INVISIBLE_MS, Got, PopKit


def renewed(got: Got, answer: RemotingCommand) -> Got:
    """The receipt that a client makes of the answer."""
    assert answer.code == 0
    offset, fields = got.message.queue_offset, answer.ext_fields
    old = got.receipt
    receipt = PopReceipt(
        offset,
        int(fields["popTime"]),
        int(fields["invisibleTime"]),
        int(fields["reviveQid"]),
        old.origin,
        old.broker_name,
        old.queue_id,
        offset,
    )
    return got._replace(receipt=receipt)


def test_a_message_is_hidden_for_longer_from_now_on() -> None:
    kit = PopKit()
    kit.fill(2)
    got = kit.pop()
    kit.run(5_000)
    answer = kit.change(got[0], 20_000)
    assert answer.ext_fields == {
        "popTime": str(kit.clock.now().wall_ms),
        "invisibleTime": "20000",
        "reviveQid": str(got[0].receipt.revive_queue),
    }
    kit.run(INVISIBLE_MS)
    (other,) = kit.pop()
    assert other.body == b"m1"
    assert kit.ack(other) == 0
    kit.run(9_000)
    assert kit.pop() == []
    kit.run(1_500)
    assert kit.bodies_popped() == [b"m0"]


def test_the_new_receipt_acknowledges_it() -> None:
    kit = PopKit()
    kit.fill(1)
    (got,) = kit.pop()
    again = renewed(got, kit.change(got, 20_000))
    assert kit.ack(again) == 0
    kit.run(30_000)
    assert kit.pop() == []


def test_a_message_may_be_wanted_back_at_once() -> None:
    kit = PopKit()
    kit.fill(1)
    (got,) = kit.pop()
    kit.change(got, 0)
    kit.run(500)
    assert kit.bodies_popped() == [b"m0"]


def test_two_receipts_of_one_millisecond_differ() -> None:
    kit = PopKit()
    kit.fill(1)
    (got,) = kit.pop()
    once = renewed(got, kit.change(got, 20_000))
    twice = renewed(once, kit.change(once, 3_000))
    assert got.receipt.pop_time < once.receipt.pop_time < twice.receipt.pop_time
    kit.run(4_000)
    assert kit.bodies_popped() == [b"m0"]
    kit.run(30_000)
    assert len(kit.messages("%RETRY%g_Orders")) <= 3


def test_a_message_that_is_suspended_was_not_tried() -> None:
    kit = PopKit()
    kit.fill(1)
    (got,) = kit.pop()
    kit.change(got, 2_000, suspend="true")
    kit.run(3_000)
    (again,) = kit.pop()
    assert again.message.reconsume_times == 0


def test_an_ordered_message_keeps_its_receipt() -> None:
    kit = PopKit()
    kit.fill(2)
    (got,) = kit.pop(order="true", maxMsgNums=1)
    kit.run(1_000)
    answer = kit.change(got, 20_000)
    assert answer.ext_fields == {
        "popTime": str(got.receipt.pop_time),
        "invisibleTime": "21000",
        "reviveQid": "999",
    }
    kit.run(INVISIBLE_MS)
    assert kit.pop(order="true") == []
    kit.run(10_000)
    assert kit.bodies_popped(order="true", maxMsgNums=1) == [b"m0"]


def test_how_long_is_bounded() -> None:
    kit = PopKit()
    kit.fill(1)
    (got,) = kit.pop()
    assert kit.change(got, -1).code == 29
    assert kit.change(got, 10**12).code == 29


def test_what_the_store_refuses_is_not_changed() -> None:
    kit = PopKit()
    kit.fill(1)
    (got,) = kit.pop()
    kit.store.appender.refusal = StoreBusy("the disk is behind")
    kit.tell(200053, kit.ack_fields(got, invisibleTime=60_000))
    assert [answer.code for answer in kit.heard()] == [1]
    kit.run(INVISIBLE_MS + 1_000)
    assert kit.bodies_popped() == [b"m0"]


def test_a_receipt_with_the_log_offset_that_a_proxy_appends_is_taken() -> None:
    kit = PopKit()
    kit.fill(1)
    (got,) = kit.pop()
    appended = encode_pop_receipt(got.receipt) + " 4096"
    again = renewed(got, kit.change(got, 5_000, extraInfo=appended))
    assert kit.ack(again, extraInfo=encode_pop_receipt(again.receipt) + " 4096") == 0
    kit.run(30_000)
    assert kit.pop() == []


def test_a_queue_is_free_when_the_only_message_left_of_a_batch_is_visible() -> None:
    kit = PopKit()
    kit.fill(4)
    first, second, third = kit.pop(order="true", maxMsgNums=3)
    kit.ack(first)
    kit.change(second, 3_000)
    kit.ack(third)
    kit.wait_for_pop(order="true", maxMsgNums=3)
    kit.run(2_900)
    assert kit.answered() == []
    kit.run(200)
    assert kit.answered() == [[b"m1", b"m2", b"m3"]]
