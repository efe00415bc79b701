"""Programs of RocketMQ's own tests of POP, for any broker: priorities, retries of them,
ordered batches, and some requests beside.

popping = Popping(port)      a connection to a broker whose name is broker-a
PROGRAMS                     each takes one, and fails where the broker does something else
"""

import itertools
import time
from collections.abc import Callable
from dataclasses import replace
from threading import Event
from typing import TypeAlias

from aerobee.model.group import GroupConfig
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.group_config import encode_group_config
from aerobee.protocol.consume.pop_receipt import encode_pop_receipt
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from tests.broker_kit import create_fields
from tests.hostile.server import send_fields
from tests.interop.features.waiting import until
from tests.pop_kit import Got, got_in
from tests.wire_client import WireClient

SECONDS_MAX = 60
INVISIBLE_MS = 3_000
LONG_MS = 600_000
QUEUES = 4
# Apache's broker answers a pop a moment before it gives up its lock of the queue.
PAUSE_S = 0.03

_numbers = itertools.count()
_moment = Event()


class Popping(WireClient):
    """A topic and a group of its own for each program."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.topic = self.group = ""

    def begin(self, queues: int, settings: str = "", factor: str = "", **attributes: str) -> None:
        number = f"{time.time_ns() % 10**9}x{next(_numbers)}"
        self.topic, self.group = f"PopProgram{number}", f"pop-program-{number}"
        self.grow(queues, **attributes)
        changes = {"+priority.factor": factor} if factor else {}
        group = GroupConfig(self.group, attributes=changes)
        self._ask_well(200, body=encode_group_config(group))
        if settings:
            self._ask_well(25, body=settings.encode())

    def grow(self, queues: int, **attributes: str) -> None:
        named = {name.replace("_", "."): text for name, text in attributes.items()}
        topic = TopicConfig(self.topic, queues, queues, attributes=named)
        self._ask_well(17, create_fields(topic))

    def __enter__(self) -> "Popping":
        return self

    def _ask_well(
        self, code: int, fields: dict[str, str] | None = None, body: bytes = b""
    ) -> RemotingCommand:
        answer = self.ask(code, fields, body)
        assert answer.code == 0, (code, answer.remark)
        return answer

    def send(self, body: bytes, priority: int | None = None, queue_id: int = 0) -> int:
        """The queue that it is stored in."""
        text = f"UNIQ_KEY\x01id{next(_numbers)}\x02"
        if priority is not None:
            text += f"_SYS_MSG_PRIORITY_\x01{priority}\x02"
        fields = send_fields(self.topic, i=text, e=str(queue_id))
        return int(self._ask_well(310, fields, body).ext_fields["queueId"])

    def pop(
        self, count: int = 32, *, invisible_ms: int = LONG_MS, order: bool = False, poll_ms: int = 0
    ) -> list[Got]:
        _moment.wait(PAUSE_S)
        fields: dict[str, object] = {
            "consumerGroup": self.group,
            "topic": self.topic,
            "queueId": -1,
            "maxMsgNums": count,
            "invisibleTime": invisible_ms,
            "pollTime": poll_ms,
            "bornTime": time.time_ns() // 10**6,
            "initMode": 0,
            "expType": "TAG",
            "exp": "*",
            "order": str(order).lower(),
        }
        answer = self.ask(200050, {name: str(value) for name, value in fields.items()})
        return got_in(answer, self.group)

    def ack(self, got: Got, extra: str = "") -> int:
        return self.ask(200051, self._place(got, extra)).code

    def change(self, got: Got, invisible_ms: int, extra: str = "") -> RemotingCommand:
        fields = {**self._place(got, extra), "invisibleTime": str(invisible_ms)}
        return self.ask(200053, fields)

    def _place(self, got: Got, extra: str) -> dict[str, str]:
        return {
            "consumerGroup": self.group,
            "topic": got.topic,
            "queueId": str(got.message.queue_id),
            "offset": str(got.message.queue_offset),
            "extraInfo": encode_pop_receipt(got.receipt) + extra,
        }

    def offset(self, code: int, topic: str, queue_id: int) -> int:
        answer = self._ask_well(code, {"topic": topic, "queueId": str(queue_id)})
        return int(answer.ext_fields["offset"])

    def wait_for_retries(self, count: int, queues: int = 1) -> None:
        """Until so many messages have come back."""
        topic = f"%RETRY%{self.group}_{self.topic}"

        def have_come() -> bool:
            return sum(self.offset(30, topic, number) for number in range(queues)) >= count

        until(have_come, SECONDS_MAX, "what was not acknowledged did not come back")


def ranks(*, rises: bool = True, retry_first: int = 0, separate: bool = False) -> str:
    """Settings of a broker."""
    return (
        f"priorityOrderAsc={str(rises).lower()}\n"
        f"popFromRetryProbabilityForPriority={retry_first}\n"
        f"useSeparateRetryQueue={str(separate).lower()}\n"
    )


def queues_of(got: list[Got]) -> list[int]:
    return [one.message.queue_id for one in got]


def a_priority_is_the_number_of_a_queue(popping: Popping) -> None:
    popping.begin(QUEUES, message_type="PRIORITY")
    for priority, queue_id in ((0, 0), (2, 2), (3, 3), (4, 3), (99, 3)):
        assert popping.send(b"x", priority, queue_id=1) == queue_id
    assert {popping.send(b"x", queue_id=queue_id) for queue_id in range(QUEUES)} == {0, 1, 2, 3}


def high_priorities_come_first(popping: Popping) -> None:
    for rises in (True, False):
        popping.begin(QUEUES, ranks(rises=rises), message_type="PRIORITY")
        for priority in range(QUEUES):
            popping.send(b"x", priority)
        found = [queue_id for _ in range(QUEUES) for queue_id in queues_of(popping.pop(1))]
        assert found == ([3, 2, 1, 0] if rises else [0, 1, 2, 3])


def one_pop_takes_several_priorities(popping: Popping) -> None:
    popping.begin(QUEUES, ranks(), message_type="PRIORITY")
    for priority in (0, 3, 1, 3, 2):
        popping.send(b"x", priority)
    assert queues_of(popping.pop()) == [3, 3, 2, 1, 0]


def the_factor_0_takes_queues_in_turn(popping: Popping) -> None:
    popping.begin(QUEUES, ranks(), factor="0", message_type="PRIORITY")
    for priority in range(QUEUES):
        for _ in range(60):
            popping.send(b"x", priority)
    found = [queue_id for _ in range(120) for queue_id in queues_of(popping.pop(1))]
    for queue_id in range(QUEUES):
        assert 15 <= found.count(queue_id) <= 45


def retries_are_the_lowest_by_default(popping: Popping) -> None:
    _come_again(popping, retry_first=0, index=-1)


def retries_may_be_the_highest(popping: Popping) -> None:
    _come_again(popping, retry_first=100, index=0)


def _come_again(popping: Popping, *, retry_first: int, index: int) -> None:
    popping.begin(QUEUES, ranks(retry_first=retry_first), message_type="PRIORITY")
    for number in range(12):
        popping.send(b"m%d" % number, number % QUEUES)
    (first,) = popping.pop(1, invisible_ms=INVISIBLE_MS)
    assert first.body == b"m3"
    popping.wait_for_retries(1)
    found = popping.pop()
    assert len(found) == 12
    assert (found[index].body, found[index].message.reconsume_times) == (b"m3", 1)


def separate_retries_keep_their_priority(popping: Popping) -> None:
    for rises in (True, False):
        settings = ranks(rises=rises, retry_first=100, separate=True)
        popping.begin(QUEUES, settings, message_type="PRIORITY")
        for priority in range(QUEUES):
            popping.send(b"x", priority)
        assert len(popping.pop(invisible_ms=INVISIBLE_MS)) == QUEUES
        popping.wait_for_retries(QUEUES, QUEUES)
        again = popping.pop()
        assert queues_of(again) == ([3, 2, 1, 0] if rises else [0, 1, 2, 3])
        assert {one.message.queue_offset for one in again} == {0}
        assert {one.message.reconsume_times for one in again} == {1}
        assert {popping.ack(one) for one in again} == {0}


def separate_retries_are_found_when_there_are_more_queues(popping: Popping) -> None:
    popping.begin(QUEUES, ranks(separate=True), message_type="PRIORITY")
    for priority in range(QUEUES):
        popping.send(b"x", priority)
    assert len(popping.pop(invisible_ms=INVISIBLE_MS)) == QUEUES
    popping.wait_for_retries(QUEUES, QUEUES)
    popping.grow(2 * QUEUES, message_type="PRIORITY")
    for priority in range(QUEUES, 2 * QUEUES):
        popping.send(b"x", priority)
    found = popping.pop(invisible_ms=INVISIBLE_MS)
    assert queues_of(found) == [7, 6, 5, 4, 3, 2, 1, 0]
    assert [one.message.reconsume_times for one in found] == [0, 0, 0, 0, 1, 1, 1, 1]
    popping.wait_for_retries(3 * QUEUES, 2 * QUEUES)
    again = popping.pop()
    assert queues_of(again) == [7, 6, 5, 4, 3, 2, 1, 0]


def an_ordered_batch_goes_on_with_what_was_not_acknowledged(popping: Popping) -> None:
    popping.begin(1)
    for number in range(1, 5):
        popping.send(b"m%d" % number)
    begun = time.monotonic()
    first, second, third = popping.pop(3, invisible_ms=5_000, order=True)
    assert popping.ack(first) == 0
    assert popping.change(second, 2_000).code == 0
    assert popping.ack(third) == 0
    again = popping.pop(3, invisible_ms=5_000, order=True, poll_ms=10_000)
    assert 1.9 <= time.monotonic() - begun < 4.5
    assert [one.body for one in again] == [b"m2", b"m3", b"m4"]


def a_receipt_with_a_log_offset_changes_a_time_and_the_new_one_acknowledges(
    popping: Popping,
) -> None:
    """As RocketMQ's proxy does it, which appends the log offset to receipts."""
    popping.begin(1)
    popping.send(b"x")
    popping.send(b"y")
    old = popping.pop(2)
    new = []
    for got in old:
        answer = popping.change(got, INVISIBLE_MS, " 4096")
        assert answer.code == 0, answer.remark
        said = answer.ext_fields
        revive = (said["invisibleTime"], said["reviveQid"])
        assert revive == (str(INVISIBLE_MS), str(got.receipt.revive_queue))
        receipt = replace(
            got.receipt,
            start_offset=got.message.queue_offset,
            pop_time=int(said["popTime"]),
            invisible_ms=INVISIBLE_MS,
        )
        new.append(got._replace(receipt=receipt))
    assert popping.ack(new[0], " 4096") == 0
    popping.wait_for_retries(1)
    assert [got.body for got in popping.pop()] == [b"y"]


def an_empty_batch_queue_has_no_smallest_offset(popping: Popping) -> None:
    popping.begin(1, queue_type="BatchCQ")
    assert popping.offset(31, popping.topic, 0) == -1


def long_chinese_properties_are_refused(popping: Popping) -> None:
    popping.begin(1)
    for count in (20_000, 32_769):
        text = "UNIQ_KEY\x010A\x02p\x01" + "中" * count + "\x02"
        assert popping.ask(310, send_fields(popping.topic, i=text), b"x").code == 13
    assert popping.send(b"good") == 0


Program: TypeAlias = Callable[[Popping], None]
PROGRAMS: tuple[Program, ...] = (
    a_priority_is_the_number_of_a_queue,
    high_priorities_come_first,
    one_pop_takes_several_priorities,
    the_factor_0_takes_queues_in_turn,
    retries_are_the_lowest_by_default,
    retries_may_be_the_highest,
    separate_retries_keep_their_priority,
    separate_retries_are_found_when_there_are_more_queues,
    an_ordered_batch_goes_on_with_what_was_not_acknowledged,
    a_receipt_with_a_log_offset_changes_a_time_and_the_new_one_acknowledges,
    an_empty_batch_queue_has_no_smallest_offset,
    long_chinese_properties_are_refused,
)
