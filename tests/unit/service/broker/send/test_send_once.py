import pytest

from aerobee.model.properties import PRODUCER_MARK, encode_properties
from aerobee.protocol.message.message_batch import BatchMessage, batch_entries, encode_batch
from aerobee.protocol.message.producer_mark import encode_follower
from aerobee.service.broker.config import BrokerConfig
from tests.broker_kit import SYNC, BrokerKit
from tests.once_kit import (
    FENCED,
    FORGOTTEN,
    ORDERS,
    QUEUE,
    SEND_ONCE,
    batch_body,
    mark_text,
    once_fields,
    open_producer,
    place_in,
    send_batch_once,
    send_once,
)
from tests.wire import JAVA_FIELDS


def test_a_send_that_is_tried_again_is_stored_once_and_answered_with_the_first_place() -> None:
    kit = BrokerKit(ORDERS)
    send_once(kit, 0, b"zero")
    first = send_once(kit, 1, b"one")
    send_once(kit, 2, b"two")
    again = send_once(kit, 1, b"one", known=True)
    assert kit.bodies(queue_id=QUEUE) == [b"zero", b"one", b"two"]
    assert "duplicate" not in first.ext_fields
    assert again.ext_fields == {**first.ext_fields, "duplicate": "true"}
    assert first.ext_fields["queueOffset"] == "1"


def test_sends_may_overtake_each_other_and_leave_numbers_out() -> None:
    kit = BrokerKit(ORDERS)
    for sequence in (5, 3, 9, 4):
        assert "duplicate" not in send_once(kit, sequence, str(sequence).encode()).ext_fields
    assert kit.bodies(queue_id=QUEUE) == [b"5", b"3", b"9", b"4"]


def test_producers_and_queues_count_apart() -> None:
    kit = BrokerKit(ORDERS)
    for changes in ({}, {"producer": "Q"}, {"queue": 2}):
        assert "duplicate" not in send_once(kit, 0, **changes).ext_fields
    assert len(kit.bodies(queue_id=1)) == 2
    assert len(kit.bodies(queue_id=2)) == 1


@pytest.mark.parametrize("follow", [True, False])
def test_a_batch_that_is_tried_again_is_stored_once(follow: bool) -> None:
    kit = BrokerKit(ORDERS)
    first = send_batch_once(kit, 0, [b"a", b"b", b"c"], follow=follow)
    again = send_batch_once(kit, 0, [b"a", b"b", b"c"], follow=not follow)
    assert kit.bodies(queue_id=QUEUE) == [b"a", b"b", b"c"]
    assert place_in(again) == place_in(first)
    assert len(first.ext_fields["msgId"].split(",")) == 3
    assert again.ext_fields["duplicate"] == "true"


def test_of_a_batch_that_is_there_in_part_the_rest_is_stored() -> None:
    kit = BrokerKit(ORDERS)
    send_once(kit, 1, b"b")
    answer = send_batch_once(kit, 0, [b"a", b"b", b"c"])
    assert kit.bodies(queue_id=QUEUE) == [b"b", b"a", b"c"]
    offsets = {one.body: one.offset_message_id for one in kit.messages(queue_id=QUEUE)}
    assert place_in(answer) == ("1", ",".join(offsets[body] for body in (b"a", b"b", b"c")))


def test_an_answer_to_a_repetition_waits_for_the_disk_like_the_first() -> None:
    kit = BrokerKit(ORDERS, storage=SYNC)
    for _ in range(2):
        kit.tell(SEND_ONCE, once_fields(0), b"body")
    kit.tick()
    assert kit.heard() == []
    kit.finish()
    assert [answer.code for answer in kit.heard()] == [0, 0]
    assert kit.bodies(queue_id=QUEUE) == [b"body"]


def test_a_successor_may_send_everything_again() -> None:
    kit = BrokerKit(ORDERS)
    first = place_in(send_once(kit, 0, epoch=1))
    again = send_once(kit, 0, epoch=2)
    assert place_in(again) == first
    assert again.ext_fields["duplicate"] == "true"
    assert send_once(kit, 1, epoch=1).code == FENCED


@pytest.mark.parametrize("is_long", [True, False])
def test_what_is_too_large_is_refused_and_changes_nothing(is_long: bool) -> None:
    kit = BrokerKit(ORDERS, config=BrokerConfig(body_bytes_max=1000))
    send_once(kit, 0, b"zero", epoch=1)
    end = kit.store.end_offset
    if is_long:
        # Too long with what the broker adds, then as it came, then more than is read.
        for size in (32_650, 32_700, 33_000, 100_000):
            fields = once_fields(1, epoch=2, extra="a\x01" + "x" * size + "\x02")
            answer = kit.ask(SEND_ONCE, fields, b"one")
            assert answer.code == 13
            assert "msg properties length limit 32KB." in answer.remark
    else:
        assert send_once(kit, 1, bytes(1001), epoch=2).code == 13
        assert send_batch_once(kit, 1, [bytes(600), bytes(600)], epoch=2).code == 13
    assert kit.store.end_offset == end
    assert "duplicate" not in send_once(kit, 1, b"one", epoch=1).ext_fields, "nobody succeeded it"
    assert kit.bodies(queue_id=QUEUE) == [b"zero", b"one"]


@pytest.mark.parametrize("quiet", [True, False])
def test_a_batch_one_of_which_is_too_large_is_refused_and_changes_nothing(quiet: bool) -> None:
    kit = BrokerKit(ORDERS)
    send_once(kit, 0, b"zero", epoch=1)
    mark = mark_text(1, epoch=2)
    own = encode_properties({"n": "v", PRODUCER_MARK: mark})
    entries = [
        BatchMessage(b"a", {"n": "v" * (32_760 - len(own)), PRODUCER_MARK: mark}),
        BatchMessage(b"b", {PRODUCER_MARK: encode_follower(1)}),
    ]
    fields = {**once_fields(1, epoch=2), "m": "true", "quiet": str(quiet).lower()}
    answer = kit.ask(SEND_ONCE, fields, encode_batch(entries))
    assert (answer.code, "msg properties length limit 32KB." in answer.remark) == (13, True)
    assert kit.bodies(queue_id=QUEUE) == [b"zero"]
    assert send_once(kit, 1, b"one", epoch=1).code == 0, "nobody succeeded it"


def test_who_was_acknowledged_and_is_not_known_is_refused() -> None:
    kit = BrokerKit(ORDERS)
    answer = send_once(kit, 4, known=True)
    assert answer.code == FORGOTTEN
    assert kit.bodies(queue_id=QUEUE) == []


def test_what_is_too_far_back_to_tell_is_refused() -> None:
    kit = BrokerKit(ORDERS)
    for sequence in range(0, 260, 4):
        send_once(kit, sequence)
    assert send_once(kit, 0, known=True).code == FORGOTTEN
    assert send_once(kit, 4, known=True).ext_fields["duplicate"] == "true"


def test_an_old_repetition_is_known_as_one_even_if_its_place_is_not() -> None:
    kit = BrokerKit(ORDERS)
    for start in range(0, 700, 100):
        send_batch_once(kit, start, [b"x"] * 100)
    answer = send_once(kit, 0, known=True)
    assert place_in(answer) == ("-1", "")
    assert answer.ext_fields["duplicate"] == "true"
    assert len(kit.bodies(queue_id=QUEUE)) == 700


def test_a_message_that_is_refused_may_come_again() -> None:
    kit = BrokerKit(ORDERS)
    fields = once_fields(0)
    assert kit.ask(SEND_ONCE, fields, bytes(5 << 20)).code != 0
    assert "duplicate" not in kit.ask(SEND_ONCE, fields, b"small").ext_fields


@pytest.mark.parametrize(
    ("changes", "body"),
    [
        ({"i": "UNIQ_KEY\x01x\x02"}, b"no mark"),
        ({"e": "2"}, b"a mark of another queue"),
        ({"b": "%RETRY%g"}, b"a retry"),
        ({"m": "true"}, b"no batch"),
        ({"m": "true"}, encode_batch([BatchMessage(b"no mark", {"A": "b"})])),
        ({"m": "true"}, batch_body(0, [b"x"]) + batch_body(2, [b"y"])),
        ({"m": "true"}, batch_body(0, [b"x"]) + batch_body(1, [b"y"], producer="Q")),
        ({"m": "true"}, batch_body(0, [b"x"], queue=3)),
        ({"m": "true"}, batch_entries(batch_body(0, [b"x", b"y"]))[1]),
        ({"m": "true"}, batch_body(0, [b"x"]) + batch_entries(batch_body(0, [b"y"] * 3))[2]),
    ],
)
def test_what_does_not_say_what_it_is_is_not_stored(changes: dict[str, str], body: bytes) -> None:
    kit = BrokerKit(ORDERS)
    kit.ask(200, {}, b"")
    answer = kit.ask(SEND_ONCE, {**once_fields(0), **changes}, body)
    assert answer.code in (13, 26), answer.remark
    assert [kit.bodies(queue_id=queue) for queue in range(4)] == [[], [], [], []]
    assert open_producer(kit)[1] == {}


def test_a_body_that_looks_like_a_mark_is_none() -> None:
    kit = BrokerKit(ORDERS)
    body = batch_body(0, [b"x"])[22:]
    assert send_batch_once(kit, 0, [body, body]).code == 0
    assert kit.bodies(queue_id=QUEUE) == [body, body]


def test_a_plain_send_of_a_marked_message_is_a_plain_send() -> None:
    kit = BrokerKit(ORDERS)
    for _ in range(2):
        assert kit.ask(310, {**JAVA_FIELDS, "i": once_fields(0)["i"]}, b"copied").code == 0
    assert kit.bodies(queue_id=QUEUE) == [b"copied", b"copied"]


def test_a_half_message_that_is_tried_again_is_one() -> None:
    kit = BrokerKit(ORDERS)
    first = send_once(kit, 0, extra="TRAN_MSG\x01true\x02PGROUP\x01g\x02")
    again = send_once(kit, 0, extra="TRAN_MSG\x01true\x02PGROUP\x01g\x02")
    assert place_in(again) == place_in(first)
    assert len(kit.messages("RMQ_SYS_TRANS_HALF_TOPIC")) == 1


def test_a_quiet_batch_is_stored_once_and_answered_without_places() -> None:
    kit = BrokerKit(ORDERS)
    first = send_batch_once(kit, 0, [b"a", b"b", b"c"], quiet=True)
    again = send_batch_once(kit, 0, [b"a", b"b", b"c"], quiet=True, known=True)
    inner = send_batch_once(kit, 1, [b"b"], quiet=True, known=True)
    assert kit.bodies(queue_id=QUEUE) == [b"a", b"b", b"c"]
    assert place_in(first) == ("0", "")
    assert place_in(again) == place_in(inner) == ("-1", "")
    assert again.ext_fields["duplicate"] == inner.ext_fields["duplicate"] == "true"
    assert "duplicate" not in first.ext_fields


def test_of_a_quiet_batch_that_is_there_in_part_the_rest_is_stored() -> None:
    kit = BrokerKit(ORDERS)
    send_batch_once(kit, 1, [b"b"], quiet=True)
    assert send_batch_once(kit, 0, [b"a", b"b", b"c"], quiet=True).code == 0
    assert kit.bodies(queue_id=QUEUE) == [b"b", b"a", b"c"]
    send_batch_once(kit, 2, [b"c", b"d"], quiet=True)
    assert kit.bodies(queue_id=QUEUE) == [b"b", b"a", b"c", b"d"]


def test_a_quiet_batch_is_refused_like_any() -> None:
    kit = BrokerKit(ORDERS)
    assert send_batch_once(kit, 0, [b"a"], quiet=True, known=True).code == FORGOTTEN
    assert send_batch_once(kit, 0, [b"a"], quiet=True, epoch=5).code == 0
    assert send_batch_once(kit, 1, [b"b"], quiet=True, epoch=4).code == FENCED
    elsewhere = batch_body(1, [b"b"], epoch=5, queue=2)
    fields = {**JAVA_FIELDS, "e": str(QUEUE), "i": "", "m": "true", "quiet": "true"}
    assert kit.ask(SEND_ONCE, fields, elsewhere).code == 13
    assert kit.bodies(queue_id=QUEUE) == [b"a"]


def test_quiet_batches_are_known_after_a_restart() -> None:
    kit = BrokerKit(ORDERS, storage=SYNC)
    kit.tell(
        SEND_ONCE,
        {**JAVA_FIELDS, "e": str(QUEUE), "i": "", "m": "true", "quiet": "true"},
        batch_body(0, [b"a", b"b"]),
    )
    kit.finish()
    kit = kit.power_cut()
    assert send_batch_once(kit, 0, [b"a", b"b"], quiet=True).ext_fields["duplicate"] == "true"
    assert kit.bodies(queue_id=QUEUE) == [b"a", b"b"]
