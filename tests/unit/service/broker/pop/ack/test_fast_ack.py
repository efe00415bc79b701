"""The short way of acknowledgements takes what is like the one before, and gives way at any doubt.

That both ways mean the same is a property test; here it is what goes which way.
"""

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.ports.service import Peer
from aerobee.protocol.bodies.revive_records import decode_ack
from aerobee.protocol.consume.pop_receipt import encode_pop_receipt
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.service.broker.fast_path import GRANTS_MAX
from aerobee.service.broker.pop.ack.fast_ack import FastAck
from tests.broker_kit import CLIENT, OTHER, create_fields
from tests.pop_kit import Got, PopKit


class Rig:
    def __init__(self, queues: int = 1) -> None:
        self.kit = PopKit(queues=queues)
        for queue_id in range(queues):
            self.kit.fill(20, queue_id)

    @property
    def plain(self) -> FastAck:
        return self.kit.broker._pop_fast_path.fast_ack  # type: ignore[attr-defined,no-any-return]

    def pop(self) -> list[Got]:
        return self.kit.pop(maxMsgNums=8)

    def is_short(self, got: Got, **other: object) -> bool:
        """Whether an acknowledgement goes the short way; it is answered whatever way it goes."""
        fields = self.kit.ack_fields(got, **other)
        frame = b"".join(encode(RemotingCommand(200051, opaque=3, ext_fields=fields)))
        line = self.kit._lines[CLIENT]
        line.frames.receive(frame)
        assert line.frames.advance()
        taken = self.plain.take_all(CLIENT, line.frames)
        runs = self.plain.take_runs()
        if not taken:
            self.kit.handle_frames(frame)  # of which it learns
            self.kit.finish()
            self.kit.heard()
        assert bool(taken) == bool(runs)
        return bool(taken)


def test_the_first_one_is_learned_from_and_others_are_like_it() -> None:
    rig = Rig(queues=2)
    got = rig.pop() + rig.pop()
    assert not rig.is_short(got[0])
    assert all(rig.is_short(one) for one in got)


def test_those_with_the_log_offset_that_a_proxy_appends_are_taken_as_well() -> None:
    rig = Rig()
    got = rig.pop()
    appended = [
        f"{encode_pop_receipt(one.receipt)} {4096 + one.message.queue_offset}" for one in got
    ]
    assert not rig.is_short(got[0], extraInfo=appended[0])
    assert rig.is_short(got[1], extraInfo=appended[1])
    assert not rig.is_short(got[2])
    assert rig.is_short(got[3])


def test_those_of_one_checkpoint_are_one_run_wherever_they_stand() -> None:
    rig = Rig()
    first, second = rig.pop(), rig.pop()
    rig.kit.ack(first[0])
    order = [first[1], second[0], first[2], second[0], first[1]]
    frames = [
        b"".join(encode(RemotingCommand(200051, opaque=n, ext_fields=rig.kit.ack_fields(one))))
        for n, one in enumerate(order)
    ]
    line = rig.kit._lines[CLIENT]
    line.frames.receive(b"".join(frames))
    assert line.frames.advance()
    assert rig.plain.take_all(CLIENT, line.frames) == 2
    runs = rig.plain.take_runs()
    assert [(run.offsets, run.opaques) for run in runs] == [
        ([1, 2, 1], [0, 2, 4]),
        ([8, 8], [1, 3]),
    ]
    assert [run.key()[3] for run in runs] == [0, 8]
    assert rig.plain.take_runs() == []


@pytest.mark.parametrize(
    ("index", "text"), [(0, "1"), (1, "1700000000001"), (2, "60001"), (3, "7")]
)
def test_what_differs_in_one_number_of_its_receipt_is_another_run(index: int, text: str) -> None:
    rig = Rig()
    got = rig.pop()
    rig.kit.ack(got[0])
    parts = encode_pop_receipt(got[1].receipt).split(" ")
    parts[index] = text
    frames = [
        b"".join(encode(RemotingCommand(200051, ext_fields=rig.kit.ack_fields(got[1], **other))))
        for other in ({}, {"extraInfo": " ".join(parts)})
    ]
    line = rig.kit._lines[CLIENT]
    line.frames.receive(b"".join(frames))
    assert line.frames.advance()
    assert rig.plain.take_all(CLIENT, line.frames) == 2
    assert [run.offsets for run in rig.plain.take_runs()] == [[1], [1]]


def test_the_same_numbers_of_another_queue_are_another_run() -> None:
    rig = Rig(queues=2)
    got = rig.kit.pop(maxMsgNums=32)
    first, other = got[0], next(one for one in got if one.message.queue_id == 1)
    assert first.message.queue_offset == other.message.queue_offset == 0
    rig.kit.ack(got[1])
    fields = [rig.kit.ack_fields(one) for one in (first, other)]
    frames = [b"".join(encode(RemotingCommand(200051, ext_fields=one))) for one in fields]
    line = rig.kit._lines[CLIENT]
    line.frames.receive(b"".join(frames))
    assert line.frames.advance()
    assert rig.plain.take_all(CLIENT, line.frames) == 2
    assert [run.key()[2] for run in rig.plain.take_runs()] == [0, 1]


def test_what_is_taken_is_in_the_log_once_for_a_read() -> None:
    rig = Rig()
    got = rig.pop()
    rig.kit.ack(got[0])
    fields = [rig.kit.ack_fields(one) for one in got[1:4]]
    frames = [b"".join(encode(RemotingCommand(200051, ext_fields=one))) for one in fields]
    rig.kit.send_frames(b"".join(frames))
    rig.kit.finish()
    acks = [
        one for one in rig.kit.messages("rmq_sys_wheel_timer") if one.properties["TAGS"] != "ck"
    ]
    assert [decode_ack(one.body).offsets for one in acks] == [(0,), (1, 2, 3)]


@pytest.mark.parametrize(
    ("index", "text"),
    [
        (0, "-0"),
        (1, "9223372036854775807"),
        (2, "-1"),
        (3, "8"),
        (3, "999"),
        (4, "1"),
        (5, "broker-b"),
        (6, "2147483648"),
        (7, "-1"),
        (7, "9223372036854775808"),
    ],
)
def test_a_strange_receipt_takes_the_general_way(index: int, text: str) -> None:
    rig = Rig()
    got = rig.pop()
    rig.is_short(got[0])
    parts = encode_pop_receipt(got[1].receipt).split(" ")
    parts[index] = text
    assert not rig.is_short(got[1], extraInfo=" ".join(parts))
    assert rig.is_short(got[1])


@pytest.mark.parametrize(
    "other", [{"queueId": 1}, {"queueId": -1}, {"offset": 21}, {"offset": -1}, {"topic": "T"}]
)
def test_a_place_that_is_not_there_takes_the_general_way(other: dict[str, object]) -> None:
    rig = Rig()
    got = rig.pop()
    rig.is_short(got[0])
    assert not rig.is_short(got[1], **other)
    assert rig.is_short(got[1], offset=20)


def test_a_topic_that_was_changed_is_looked_at_again() -> None:
    rig = Rig(queues=2)
    got = rig.pop()
    rig.is_short(got[0])
    topic = TopicConfig("Orders", 2, 2, permission=4)
    assert rig.kit.ask(17, create_fields(topic), channel=OTHER).code == 0
    assert not rig.is_short(got[1])
    assert rig.is_short(got[1])


def test_ordered_ones_are_never_learned_from() -> None:
    rig = Rig()
    got = rig.kit.pop(order="true", maxMsgNums=8)
    assert not rig.is_short(got[0], extraInfo=encode_pop_receipt(got[0].receipt))
    assert not rig.is_short(got[1])


def test_one_that_wants_no_answer_is_never_learned_from() -> None:
    rig = Rig()
    got = rig.pop()
    for one in got[:2]:
        rig.kit.tell(200051, rig.kit.ack_fields(one), flag=2)
    rig.kit.finish()
    assert rig.kit.heard() == []
    assert not rig.is_short(got[2])


def test_a_connection_is_remembered_for_a_few_kinds_only_and_while_it_lives() -> None:
    rig = Rig()
    got = rig.pop()
    for number in range(GRANTS_MAX + 1):
        assert not rig.is_short(got[0], consumerGroup=f"g{number}")
    assert rig.is_short(got[0], consumerGroup="g1")
    assert not rig.is_short(got[0], consumerGroup="g0")
    rig.kit.close(CLIENT)
    rig.kit.open(CLIENT, Peer("10.0.0.9", 40_001))
    assert not rig.is_short(got[0], consumerGroup="g1")
