"""World: a group of brokers under load, faults on it, and the judgement after each of them.

    world.progress(50)          so many more sends are acknowledged, soon
    world.judge()               nobody sends meanwhile

What is judged:

    messages   of every broker, by pulls: the checker of histories with all that was ever sent
    logs       a slave's log is a byte prefix of its master's
    readers    with copies, what was read once is there for ever, at its offset
    offsets    of consumers: never beyond the queue, never back by more than a copy takes
"""

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from aerobee.app.chaos.log_check import Anomaly, Found, Queue, SentOutcome, check, explain
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from tests.fault.replication.group import QUEUES, SECONDS_MAX, TOPIC, Broker, Group, Mode
from tests.fault.replication.load import GROUP, Load, messages_in, offset_fields
from tests.fault.replication.network import Network, missing, network
from tests.hostile.server import pull_fields
from tests.interop.features.waiting import TooLong, until
from tests.log_digests import check_same_bytes

OFFSETS_SECONDS = 7.0
"""A slave copies consumer offsets every 3 s; consumers commit a few times a second, and a busy
machine takes its time."""
_never = threading.Event()


class World:
    def __init__(
        self, folder: Path, mode: Mode, seed: str, stores: dict[int, Path] | None = None
    ) -> None:
        self.mode = mode
        self.dice = random.Random(seed)
        self.network: Network = network(1 + mode.slaves + mode.spares)
        self.why_loopback = missing() if self.network.kind.startswith("loopback") else ""
        try:
            self.group = self.made_group(folder, stores)
        except BaseException:
            self.network.close()
            raise
        self.load = Load(self.group)
        self.load.resume()

    def made_group(self, folder: Path, stores: dict[int, Path] | None) -> Group:
        return Group(folder, self.network, self.mode, stores)

    def close(self) -> None:
        self.load.close()
        self.group.close()
        self.network.close()
        assert not self.load.failures, self.load.failures

    def summary(self) -> str:
        counts = ", ".join(f"{self.load.count(one):,} {one.value}" for one in SentOutcome)
        where = f"{self.network.kind}{self.why_loopback and f' ({self.why_loopback})'}"
        return f"{self.mode}, on {where}: {counts}"

    @property
    def master(self) -> Broker:
        return self.group.master

    def a_slave(self) -> Broker:
        return self.dice.choice(self.group.slaves)

    # Waiting.

    def wait(self, seconds: float) -> None:
        """Let the load go on."""
        _never.wait(seconds)

    def progress(self, count: int = 50, outcome: SentOutcome = SentOutcome.ACKNOWLEDGED) -> None:
        """So many more sends come to this."""
        before = self.load.count(outcome)

        def enough() -> bool:
            return self.load.count(outcome) >= before + count

        self._until(enough, f"{count} sends more are {outcome.value}")

    def goes_on_or_refuses(self) -> None:
        """A slave is missing: sends go on if there are enough others, else they are refused."""
        if self.mode.spare > 0:
            self.progress()
        else:
            self.progress(20, SentOutcome.REFUSED)

    def until_caught_up(self) -> None:
        """Until every slave has what the master has now."""
        end = self.master.log_end()
        for slave in self.group.slaves:
            self._until(lambda slave=slave: slave.log_end() >= end, f"{slave.number} catches up")  # type: ignore[misc]
        self.group.until_followed()

    def until_behind(self, slave: Broker, byte_count: int) -> None:
        """Until a slave that answers lacks so much."""
        self._until(
            lambda: self.master.log_end() - slave.log_end() >= byte_count,
            f"broker {slave.number} is {byte_count} bytes behind",
        )

    def until_fewer_count(self) -> None:
        """Until the master has noticed that a slave is missing."""
        self._until(lambda: self.group.in_sync() < self.mode.slaves, "a slave counts no more")

    def _until(self, is_so: Callable[[], bool], what: str) -> None:
        try:
            until(is_so, SECONDS_MAX, what)
        except TooLong as error:
            said = "\n".join(
                f"broker {one.number}:\n{one.said()[-1500:]}" for one in self.group.brokers
            )
            raise TooLong(f"{error}; {self.summary()}\n{said}") from None

    @contextlib.contextmanager
    def at_rest(self) -> Iterator[None]:
        """Nobody sends, and all slaves have everything."""
        self.load.pause()
        self.until_caught_up()
        self.group.until_topic_known()
        yield
        self.load.resume()

    # Judgement.

    def judge(self) -> None:
        with self.at_rest():
            self.judge_logs()
            for broker in self.group.brokers:
                self.judge_messages(self.found_on(broker), f"on broker {broker.number}")
            self._judge_offsets(None)

    def judge_logs(self) -> None:
        """Compare every running slave's log with the master's. Sends may go on."""
        for slave in self.group.slaves:
            if slave.is_running:
                begin, end = slave.log_range()
                begin = max(begin, self.master.log_range()[0])
                check_same_bytes(self.master.store, slave.store, begin, end)

    def judge_messages(
        self, found: dict[Queue, list[Found]], where: str, tail_from: int | None = None
    ) -> None:
        anomalies = check(self.load.sent, found, tail_from)
        for reading in self.load.readings:
            anomalies += _unread(reading.found, found[reading.queue])
            if reading.moved and self.mode.copies > 1:
                anomalies.append(Anomaly("moved", b"", reading.moved[0]))
        assert not anomalies, f"{where}, {self.summary()}:\n{explain(anomalies)}"

    def found_on(self, broker: Broker) -> dict[Queue, list[Found]]:
        """All messages of a broker, by pulls."""
        with broker.client(SECONDS_MAX) as client:
            found: dict[Queue, list[Found]] = {}
            for number in range(QUEUES):
                listed = found[TOPIC.encode(), number] = []
                while True:
                    offset = listed[-1].offset + 1 if listed else 0
                    fields = pull_fields(TOPIC, GROUP, offset, queueId=number, maxMsgNums=1000)
                    answer = client.ask(RequestCode.PULL_MESSAGE, fields)
                    if answer.code != ResponseCode.SUCCESS:
                        assert answer.code == ResponseCode.PULL_NOT_FOUND, answer
                        break
                    listed += messages_in(bytes(answer.body))
        return found

    def judge_change(self, lost_s: float) -> None:
        """A slave has become the master, `lost_s` is when the old one was lost. Without copies the
        newest messages may be gone, as a tail: they are forgotten, and so is who read them."""
        self.load.pause()
        found = self.found_on(self.master)
        if self.mode.copies > 1:
            self.judge_messages(found, "after the promotion")
        else:
            anomalies = self._judge_tail(found, lost_s)
            assert not anomalies, f"after the promotion, {self.summary()}:\n{explain(anomalies)}"
            self._forget_lost(found)
        self._judge_offsets(lost_s - OFFSETS_SECONDS)
        self.load.resume()

    def _judge_tail(self, found: dict[Queue, list[Found]], lost_s: float) -> list[Anomaly]:
        """Judge what was sent before the loss: the new master has messages behind the tail that is
        gone."""
        lost_ns = int(1e9 * lost_s)
        later = {one.name for one in self.load.sent if one.began >= lost_ns}
        sent = [one for one in self.load.sent if one.name not in later]
        there = {
            queue: [one for one in listed if one.name not in later]
            for queue, listed in found.items()
        }
        return check(sent, there, lost_ns - int(1e9 * OFFSETS_SECONDS))

    def _forget_lost(self, found: dict[Queue, list[Found]]) -> None:
        there = {one.name for listed in found.values() for one in listed}
        acknowledged = SentOutcome.ACKNOWLEDGED
        self.load.sent[:] = [
            one for one in self.load.sent if one.name in there or one.outcome is not acknowledged
        ]
        for reading in self.load.readings:
            reading.found[:] = [one for one in reading.found if one.name in there]
            reading.moved.clear()

    def _judge_offsets(self, kept_until_s: float | None) -> None:
        """What the master has is no more than was committed, and no less than what was committed
        last, or last before a moment."""
        with self.master.client() as client:
            for reading in self.load.readings:
                fields = offset_fields(reading.queue[1])
                answer = client.ask(RequestCode.QUERY_CONSUMER_OFFSET, fields)
                offset = int(answer.ext_fields["offset"]) if answer.code == 0 else 0
                highest = reading.found[-1].offset + 1 if reading.found else 0
                kept = [
                    one
                    for at, one in reading.commits
                    if at < (kept_until_s or time.monotonic() - 2 * OFFSETS_SECONDS)
                ]
                least = min(kept[-1] if kept else 0, highest)
                assert least <= offset <= highest, (
                    f"the offset of {reading.queue} is {offset}; "
                    f"{least} to {highest} were committed: {answer}"
                )


def _unread(read: list[Found], there: list[Found]) -> list[Anomaly]:
    """What was read, and is not there, or is something else."""
    first = there[0].offset if there else 0
    stored = {one.offset: one.name for one in there}
    return [
        Anomaly("unread", one.name, f"read at {one.offset}, where {stored.get(one.offset)!r} is")
        for one in read
        if one.offset >= first and stored.get(one.offset) != one.name
    ]
