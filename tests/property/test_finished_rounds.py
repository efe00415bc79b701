"""Tasks that write rounds to two topics, attempts of them that overlap, are late, or go on when
nobody waits for them any more, brokers that stop, rounds that are said to be finished or are not,
by tasks or for all of them, in any order: no row is there twice, and all that were acknowledged
are there.
"""

from collections import Counter
from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from aerobee.model.topic import TopicConfig
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from tests.broker_kit import SYNC, BrokerKit
from tests.once_kit import (
    FENCED,
    FINISH_ROUND,
    FINISHED,
    OPEN_PRODUCER,
    ORDERS,
    QUEUE,
    SEND_ONCE,
    batch_body,
    finish_round,
)
from tests.wire import JAVA_FIELDS

TOPICS = ("Orders", "Other")
TASKS = 2
CHUNKS = (2, 1)
"""Rows of each request."""


class Attempt:
    """One attempt of a task: opens a topic, sends its rows, opens the next, perhaps says that it is
    through. It stops at the first refusal."""

    def __init__(self, round_id: int, task: int, is_talkative: bool) -> None:
        self.round_id = round_id
        self.task = task
        self.is_through = False
        """All its rows are acknowledged, or known to be."""
        self.sent: list[tuple[dict[str, str], bytes]] = []
        self._epoch = -1
        self._steps = self._life(is_talkative)
        self._answer: RemotingCommand | None = None

    def step(self, kit: BrokerKit) -> None:
        request = next(self._steps, None)
        if request is None:
            return
        code, fields, body = request
        self._answer = kit.ask(code, fields, body)
        assert self._answer.code in (0, FENCED, FINISHED), self._answer.remark
        if self._answer.code == FENCED:
            self._steps = iter(())

    def _life(self, is_talkative: bool) -> Iterator[tuple[int, dict[str, str], bytes]]:
        for topic in TOPICS:
            yield OPEN_PRODUCER, self._opening(topic), b""
            assert self._answer is not None
            if self._answer.code == FINISHED:
                continue
            self._epoch = int(self._answer.ext_fields["epoch"])
            row = 0
            for count in CHUNKS:
                request = self._rows(topic, row, count)
                self.sent.append(request)
                yield SEND_ONCE, *request
                row += count
        self.is_through = True
        for topic in TOPICS if is_talkative else ():
            said = {"writeId": "w", "topic": topic, "roundId": str(self.round_id)}
            said |= {"task": str(self.task), "epoch": str(self._epoch)}
            yield FINISH_ROUND, said, b""
            assert self._answer is not None
            self._epoch = int(self._answer.ext_fields.get("epoch", self._epoch))

    def _opening(self, topic: str) -> dict[str, str]:
        said = {"producerId": f"w/{self.task}", "topic": topic, "roundId": str(self.round_id)}
        return said | {"plan": "a plan", "epoch": str(self._epoch)}

    def _rows(self, topic: str, start: int, count: int) -> tuple[dict[str, str], bytes]:
        rows = rows_of(self.round_id, self.task)[start : start + count]
        sequence = (self.round_id << 32) + start
        fields = {**JAVA_FIELDS, "b": topic, "e": str(QUEUE), "i": "", "m": "true", "quiet": "true"}
        producer = f"w/{self.task}"
        return fields, batch_body(sequence, rows, producer=producer, epoch=self._epoch, topic=topic)


def rows_of(round_id: int, task: int) -> list[bytes]:
    return [f"{round_id} {task} {row}".encode() for row in range(sum(CHUNKS))]


class World:
    def __init__(self) -> None:
        self.kit = BrokerKit(ORDERS, TopicConfig("Other", 4, 4), storage=SYNC)
        self.round_id = 0
        self.attempts: list[Attempt] = []

    def do(self, what: str, number: int) -> None:
        """One thing that happens; `number` says to whom."""
        attempts = self.attempts
        if what == "begin":
            attempts.append(Attempt(self.round_id, number % TASKS, number % 3 == 0))
        elif what == "write" and attempts:
            for _ in range(number % 4 + 3):
                attempts[-1 - number % min(3, len(attempts))].step(self.kit)
        elif what == "finish" and self.is_through():
            assert finish_round(self.kit, "w", self.round_id, TOPICS[number % 2]).code == 0
        elif what == "next" and self.is_through():
            self.round_id += 1
        elif what == "late" and attempts:
            self.send_again(attempts[number % len(attempts)], number)
        elif what == "stop":
            self.kit = (self.kit.killed, self.kit.power_cut, self.kit.restarted)[number % 3]()
        elif what == "time":
            self.kit.run(6000, 1000)

    def is_through(self) -> bool:
        """Whether Spark would commit the round."""
        through = {
            one.task for one in self.attempts if one.is_through and one.round_id == self.round_id
        }
        return len(through) == TASKS

    def send_again(self, attempt: Attempt, number: int) -> None:
        """A request that was on its way for long."""
        if attempt.sent:
            answer = self.kit.ask(SEND_ONCE, *attempt.sent[number % len(attempt.sent)])
            assert answer.code in (0, FENCED), answer.remark

    def check(self) -> None:
        for topic in TOPICS:
            found = Counter(self.kit.bodies(topic, QUEUE))
            assert all(count == 1 for count in found.values()), (topic, found)
            for one in self.attempts:
                if one.is_through:
                    assert set(rows_of(one.round_id, one.task)) <= set(found), topic

    def do_again(self) -> None:
        """The round, from its beginning."""
        for task in range(TASKS):
            again = Attempt(self.round_id, task, False)
            self.attempts.append(again)
            while not again.is_through:
                again.step(self.kit)


events = st.lists(
    st.tuples(
        st.sampled_from(
            ["begin", "begin", "write", "write", "write", "late", "finish", "next", "stop", "time"]
        ),
        st.integers(0, 11),
    ),
    min_size=30,
    max_size=60,
)


@settings(max_examples=60)
@given(events)
def test_whatever_is_said_to_be_finished_no_row_is_lost_and_none_is_there_twice(
    happens: list[tuple[str, int]],
) -> None:
    world = World()
    for what, number in happens:
        world.do(what, number)
    world.check()
    world.do_again()
    for attempt in world.attempts:
        for number in range(len(attempt.sent)):
            world.send_again(attempt, number)
    world.check()
