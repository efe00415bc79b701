"""Sends to be stored once, as our client writes them, to a broker of `broker_kit`.

send_once(kit, 7, b"body")               message 7 of producer P in queue 1 of Orders
send_batch_once(kit, 7, [b"a", b"b"])    messages 7 and 8
open_producer(kit)                       its epoch, and the last sequences
open_task(kit, "w/3", 4)                 the answer to a task that begins round 4
send_rows(kit, "w/3", epoch, [b"a"])     rows of a task, as the sink sends them
finish_round(kit, "w", 4, task=3, ...)   that is through, or the whole write
"""

from collections.abc import Sequence

from aerobee.model.properties import PRODUCER_MARK
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.producer_sequences import decode_last_sequences
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from aerobee.protocol.message.producer_mark import (
    ProducerMark,
    encode_follower,
    encode_mark,
    place_of,
)
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from tests.broker_kit import BrokerKit
from tests.wire import JAVA_FIELDS

ORDERS = TopicConfig("Orders", 4, 4)
SEND_ONCE, OPEN_PRODUCER, FINISH_ROUND = 28002, 28003, 28006
FENCED, FORGOTTEN, TOO_MANY, FINISHED = 28101, 28102, 28103, 28104
QUEUE = 1


def mark_text(
    sequence: int,
    *,
    producer: str = "P",
    epoch: int = 1,
    topic: str = "Orders",
    queue: int = QUEUE,
) -> str:
    return encode_mark(ProducerMark(producer, epoch, sequence, place_of(topic, queue)))


def once_fields(
    sequence: int, known: bool = False, extra: str = "", **mark: object
) -> dict[str, str]:
    """The header of one message; `extra` are more properties."""
    text = mark_text(sequence, **mark)  # type: ignore[arg-type]
    return {
        **JAVA_FIELDS,
        "e": str(mark.get("queue", QUEUE)),
        "i": f"UNIQ_KEY\x01id{sequence}\x02{PRODUCER_MARK}\x01{text}\x02{extra}",
        "known": str(known).lower(),
    }


def send_once(
    kit: BrokerKit,
    sequence: int,
    body: bytes = b"a body",
    *,
    known: bool = False,
    extra: str = "",
    **mark: object,
) -> RemotingCommand:
    return kit.ask(SEND_ONCE, once_fields(sequence, known, extra, **mark), body)


def batch_body(
    sequence: int, bodies: Sequence[bytes], *, follow: bool = True, **mark: object
) -> bytes:
    """Messages behind the first follow it, as a sink writes them, or have marks of their own."""

    def text(index: int) -> str:
        if index and follow:
            return encode_follower(index)
        return mark_text(sequence + index, **mark)  # type: ignore[arg-type]

    return encode_batch(
        BatchMessage(body, {"UNIQ_KEY": f"id{sequence + index}", PRODUCER_MARK: text(index)})
        for index, body in enumerate(bodies)
    )


def send_batch_once(
    kit: BrokerKit,
    sequence: int,
    bodies: Sequence[bytes],
    *,
    known: bool = False,
    quiet: bool = False,
    follow: bool = True,
    **mark: object,
) -> RemotingCommand:
    fields = {**JAVA_FIELDS, "e": str(QUEUE), "i": "", "m": "true"}
    fields |= {"known": str(known).lower(), "quiet": str(quiet).lower()}
    return kit.ask(SEND_ONCE, fields, batch_body(sequence, bodies, follow=follow, **mark))


def open_producer(kit: BrokerKit, producer: str = "P", **fields: str) -> tuple[int, dict[int, int]]:
    answer = kit.ask(OPEN_PRODUCER, {"producerId": producer, "topic": "Orders", **fields})
    assert answer.code == 0, answer.remark
    return int(answer.ext_fields["epoch"]), decode_last_sequences(bytes(answer.body))


def place_in(answer: RemotingCommand) -> tuple[str, str]:
    """Queue offset and message id that an answer names."""
    assert answer.code == 0, answer.remark
    return answer.ext_fields["queueOffset"], answer.ext_fields["msgId"]


def open_task(
    kit: BrokerKit, producer: str, round_id: int, topic: str = "Orders"
) -> RemotingCommand:
    said = {"producerId": producer, "topic": topic, "roundId": str(round_id), "plan": "a plan"}
    return kit.ask(OPEN_PRODUCER, said)


def send_rows(
    kit: BrokerKit, producer: str, epoch: int, bodies: Sequence[bytes], start: int = 0
) -> RemotingCommand:
    sequence = ((epoch >> 20) << 32) + start
    return send_batch_once(kit, sequence, bodies, quiet=True, producer=producer, epoch=epoch)


def finish_round(
    kit: BrokerKit, write_id: str, round_id: int, topic: str = "Orders", **more: int
) -> RemotingCommand:
    said = {"writeId": write_id, "topic": topic, "roundId": str(round_id)}
    return kit.ask(FINISH_ROUND, said | {name: str(value) for name, value in more.items()})
