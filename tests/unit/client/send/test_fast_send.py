import asyncio

import pytest

from aerobee.client.api.receipt import Durability, Receipt
from aerobee.client.core.identity import UniqueIds
from aerobee.client.core.send.outgoing import order_text
from aerobee.client.core.send.queue_choice import queue_for_key
from aerobee.client.send.fast_send import NEXT, FastQueue, FastSend
from aerobee.errors import Refused, RequestTimeout, Retriable
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.properties import decode_properties
from aerobee.net.line import Line
from aerobee.protocol.message.message_batch import decode_batch
from aerobee.protocol.remoting.command_header import CommandHeader
from aerobee.protocol.remoting.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode, encode, reply_to
from aerobee.protocol.send.send_frame_template import SendFrameTemplate
from tests.client_kit import turn
from tests.net_kit import in_loop

WALL = 1_767_268_800_123
QUEUES = [MessageQueue("t", "a", QueueId(number)) for number in range(3)]


class Wire(asyncio.Transport):
    """The other side of a line."""

    def __init__(self) -> None:
        super().__init__()
        self.frames = FrameReader()

    def is_closing(self) -> bool:
        return False

    def close(self) -> None: ...

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.frames.receive(bytes(data))

    async def received(self) -> list[RemotingCommand]:
        await turn()
        found = []
        while self.frames.advance():
            found.append(decode(self.frames))
        return found


class Lane:
    """The short way over a line whose other side is the test."""

    def __init__(self, wall_ms: int = WALL) -> None:
        self.line: Line | None = Line("a:1", FrameLimits())
        self.wire = Wire()
        self.line.connection_made(self.wire)
        self.looked = 0
        self.wall_ms = wall_ms
        queues = [
            FastQueue(queue, "a:1", _mould(310, queue), _mould(320, queue)) for queue in QUEUES
        ]
        ids = UniqueIds("10.0.0.1", 7, 8)
        self.quick = FastSend(queues, 0, ids, lambda address: self.line, self._moment, 4 << 20)

    def _moment(self) -> tuple[int, int]:
        self.looked += 1
        return self.wall_ms, self.wall_ms - 1000

    def answer(self, asked: RemotingCommand, code: int = 0, **fields: str) -> None:
        said = {"msgId": "O", "queueId": asked.ext_fields["e"], "queueOffset": "77", **fields}
        assert self.line is not None
        reply = reply_to(asked, code, ext_fields=said if code in (0, 10) else {})
        self.line.data_received(b"".join(encode(reply)))


def _mould(code: int, queue: MessageQueue) -> SendFrameTemplate:
    fields = {"b": queue.topic, "e": str(queue.queue_id)}
    return SendFrameTemplate(CommandHeader(code, ext_fields=fields))


def test_sends_of_a_key_go_to_the_queue_that_java_would_choose() -> None:
    async def test() -> None:
        lane = Lane()
        keys = ["a", "user-7", "日本", "polygenelubricants"]  # the last one's hash is -2**31
        for key in keys:
            waiter = lane.quick.send_in_order(key.encode(), b"x", order_text(key), 3.0)
            assert waiter is not None
            assert waiter.queue == queue_for_key(QUEUES, key)
        asked = await lane.wire.received()
        assert [int(one.ext_fields["e"]) for one in asked] == [
            queue_for_key(QUEUES, key).queue_id for key in keys
        ]
        said = [decode_properties(one.ext_fields["i"].encode()) for one in asked]
        assert [one["__SHARDINGKEY"] for one in said] == keys
        # The round goes on where it was.
        lane.quick.send(b"x", b"", 3.0)
        (next_one,) = await lane.wire.received()
        assert next_one.ext_fields["e"] == "1"

    in_loop(test)


def test_sends_go_round_and_their_receipts_say_where_they_are() -> None:
    async def test() -> None:
        lane = Lane()
        waiters = [lane.quick.send(b"%d" % number, b"", 3.0) for number in range(4)]
        asked = await lane.wire.received()
        assert [command.ext_fields["e"] for command in asked] == ["1", "2", "0", "1"]
        assert [command.body for command in asked] == [b"0", b"1", b"2", b"3"]
        assert {command.ext_fields["g"] for command in asked} == {str(WALL)}
        for command in reversed(asked):
            lane.answer(command)
        for waiter, command in zip(waiters, asked, strict=True):
            assert waiter is not None
            receipt: Receipt = await waiter.answer
            properties = decode_properties(command.ext_fields["i"].encode())
            assert receipt.message_id == properties["UNIQ_KEY"]
            assert receipt.queue == QUEUES[int(command.ext_fields["e"])]
            assert (receipt.offset_id, receipt.offset) == ("O", 77)
        assert lane.looked == 1  # at the time, once for all of a turn

    in_loop(test)


def test_a_batch_has_an_id_for_each_message() -> None:
    async def test() -> None:
        lane = Lane()
        waiter = lane.quick.send_batch(NEXT, [b"x", b"yy"], None, b"TAGS\x01a\x02", 3.0)
        assert waiter is not None
        (asked,) = await lane.wire.received()
        lane.answer(asked, msgId="O,P")
        receipts = await waiter.answer
        messages = decode_batch(bytes(asked.body))
        assert [message.body for message in messages] == [b"x", b"yy"]
        assert {message.properties["TAGS"] for message in messages} == {"a"}
        assert [message.properties["UNIQ_KEY"] for message in messages] == [
            receipt.message_id for receipt in receipts
        ]
        assert [(receipt.offset_id, receipt.offset) for receipt in receipts] == [
            ("O", 77),
            ("P", 78),
        ]

    in_loop(test)


def test_an_unusual_answer_is_understood_and_a_refusal_raised() -> None:
    async def test() -> None:
        lane = Lane()
        waiters = [lane.quick.send(b"x", b"", 3.0) for _ in range(4)]
        asked = await lane.wire.received()
        lane.answer(asked[0], 10, unheard="of")
        lane.answer(asked[1], 2)
        lane.answer(asked[2], 13)
        lane.answer(asked[3], 19)
        answers = [waiter.answer for waiter in waiters if waiter is not None]
        assert (await answers[0]).durability is Durability.NOT_FLUSHED
        with pytest.raises(Retriable):
            await answers[1]
        with pytest.raises(Refused):
            await answers[2]
        with pytest.raises(Refused, match="no answer to a send"):
            await answers[3]

    in_loop(test)


def test_no_answer_in_time_is_raised() -> None:
    async def test() -> None:
        lane = Lane()
        waiter = lane.quick.send(b"x", b"", 0.0)
        assert waiter is not None
        with pytest.raises(RequestTimeout):
            await waiter.answer

    in_loop(test)


def test_who_gave_up_does_not_disturb_the_others() -> None:
    async def test() -> None:
        lane = Lane()
        gone, waiter = lane.quick.send(b"x", b"", 3.0), lane.quick.send(b"y", b"", 3.0)
        assert gone is not None
        assert waiter is not None
        gone.answer.cancel()
        for command in await lane.wire.received():
            lane.answer(command)
        assert (await waiter.answer).offset == 77

    in_loop(test)


def test_the_general_way_is_asked_for_where_there_is_no_line_or_it_is_full_or_closed() -> None:
    async def test() -> None:
        lane = Lane()
        line = lane.line
        assert line is not None
        line.pause_writing()
        assert lane.quick.send(b"x", b"", 3.0) is None
        line.resume_writing()
        assert lane.quick.send(b"x", b"", 3.0) is not None
        line.close()
        assert lane.quick.send(b"x", b"", 3.0) is None
        lane.line = None
        assert lane.quick.send_batch(NEXT, [b"x"], None, b"", 3.0) is None

    in_loop(test)


def test_batches_go_round_or_to_the_queue_that_is_meant() -> None:
    async def test() -> None:
        lane = Lane()
        named = MessageQueue("ns%t", "a", QueueId(2))
        found = lane.quick.find_place(named)
        assert found == 2
        assert lane.quick.find_place(MessageQueue("t", "a", QueueId(3))) is None
        assert lane.quick.find_place(MessageQueue("t", "b", QueueId(2))) is None
        for place in (NEXT, found, NEXT, lane.quick.place_for(b"polygenelubricants"), NEXT):
            texts = [b"TAGS\x01%d\x02" % number for number in range(2)]
            assert lane.quick.send_batch(place, [b"x", b"y"], texts, b"", 3.0) is not None
        asked = await lane.wire.received()
        of_key = str(queue_for_key(QUEUES, "polygenelubricants").queue_id)
        assert [one.ext_fields["e"] for one in asked] == ["1", "2", "2", of_key, "0"]
        for one in asked:
            said = [message.properties["TAGS"] for message in decode_batch(bytes(one.body))]
            assert said == ["0", "1"]

    in_loop(test)


def test_the_general_way_is_asked_for_what_is_no_plain_batch_or_too_large() -> None:
    async def test() -> None:
        lane = Lane()
        for bodies in (
            [],
            [b"x", b""],
            [b"x", {}],
            [b"x" * 300_000],  # one copy less is worth more
            [b"x" * 8_200] * 40,
            [b"x" * 8_000] * 530,  # more than a broker takes
        ):
            assert lane.quick.send_batch(NEXT, bodies, None, b"", 3.0) is None
        assert lane.quick.send_batch(NEXT, [b"x"], [], b"", 3.0) is None
        assert lane.quick.send_batch(NEXT, [b"x"], None, b"x" * 32_767, 3.0) is None
        assert await lane.wire.received() == []
        # None of these has had a turn, and many small ones may be large together.
        waiter = lane.quick.send_batch(NEXT, [b"x" * 8_000] * 500, None, b"", 3.0)
        assert waiter is not None
        assert waiter.queue == QUEUES[1]

    in_loop(test)


@pytest.mark.parametrize("wall_ms", [0, 10**12 - 1, 10**13])
def test_the_general_way_is_asked_for_at_times_that_no_mould_has_room_for(wall_ms: int) -> None:
    async def test() -> None:
        assert Lane(wall_ms).quick.send(b"x", b"", 3.0) is None

    in_loop(test)
