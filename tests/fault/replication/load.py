"""Producers and consumers on threads of their own, and everything that they were told.

Each producer sends to a queue of its own, one message after the other, to the broker that is the
master at this moment. Each consumer reads one queue, from the master or, while that does not
answer, from a slave, and commits its offset on the master.
"""

import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from aerobee.app.chaos.log_check import Found, Queue, Sent, SentOutcome
from aerobee.protocol.message.stored_message import decode_records
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode, SendOutcome, outcome_of
from tests.fault.replication.group import QUEUES, TOPIC, Broker, Group
from tests.hostile.server import pull_fields, send_fields
from tests.interop.features.waiting import until
from tests.wire_client import WireClient

GROUP = "readers"
BODY_BYTES = 1_000
SECONDS_MAX = 120
_PATIENCE_SECONDS = 3.0
"""Of a producer for its answer."""
_PAUSE_SECONDS = 0.004
_COMMIT_SECONDS = 0.2
_OUTCOMES = {
    SendOutcome.ACKED: SentOutcome.ACKNOWLEDGED,
    SendOutcome.FAILED: SentOutcome.REFUSED,
    SendOutcome.UNKNOWN: SentOutcome.UNKNOWN,
}


@dataclass
class Reading:
    """One queue, as its consumer saw it."""

    queue: Queue
    found: list[Found] = field(default_factory=list)
    commits: list[tuple[float, int]] = field(default_factory=list)
    """When an offset was committed, on the monotonic clock, and which."""
    moved: list[str] = field(default_factory=list)
    """Answers that it should go on at another offset."""


class Load:
    def __init__(self, group: Group) -> None:
        self._group = group
        self._is_over = threading.Event()
        self._may_send = threading.Event()
        self._sending: set[int] = set()
        self._names = itertools.count()
        self.sent: list[Sent] = []
        self.answer_seconds: list[float] = []
        """Of every answer to a send."""
        self.readings = [Reading((TOPIC.encode(), number)) for number in range(QUEUES)]
        self.body_bytes = BODY_BYTES
        self.pause_seconds = _PAUSE_SECONDS
        self.failures: list[BaseException] = []
        self._threads = [
            threading.Thread(target=self._run, args=(live, number))
            for number in range(QUEUES)
            for live in (self._produce, self._consume)
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._is_over.set()
        self._may_send.set()
        for thread in self._threads:
            thread.join()

    def _run(self, live: Callable[[int], None], number: int) -> None:
        try:
            live(number)
        except BaseException as error:
            self.failures.append(error)

    # Figures.

    def count(self, outcome: SentOutcome = SentOutcome.ACKNOWLEDGED) -> int:
        return sum(one.outcome is outcome for one in list(self.sent))

    def resume(self) -> None:
        self._may_send.set()

    def pause(self) -> None:
        """No send is under way when this returns."""
        self._may_send.clear()
        until(lambda: not self._sending, SECONDS_MAX, "no send is under way")

    @contextlib.contextmanager
    def heavier(self, body_bytes: int, pause_seconds: float) -> Iterator[None]:
        before = self.body_bytes, self.pause_seconds
        self.body_bytes, self.pause_seconds = body_bytes, pause_seconds
        yield
        self.body_bytes, self.pause_seconds = before

    # Producers.

    def _produce(self, number: int) -> None:
        client: WireClient | None = None
        broker: Broker | None = None
        while not self._is_over.wait(self.pause_seconds):
            self._may_send.wait()
            self._sending.add(number)
            try:
                if self._may_send.is_set() and not self._is_over.is_set():
                    if client is None or broker is not self._group.master:
                        if client is not None:
                            client.close()
                        broker = self._group.master
                        client = _connected(broker)
                    if client is not None and not self._send(client, number):
                        client.close()
                        client = None
            finally:
                self._sending.discard(number)
        if client is not None:
            client.close()

    def _send(self, client: WireClient, queue_id: int) -> bool:
        """Whether the connection can be used on."""
        name = b"%d-%d" % (queue_id, next(self._names))
        body = (name + b" ").ljust(self.body_bytes, b"x")
        began, outcome, offset = time.monotonic_ns(), SentOutcome.UNKNOWN, None
        is_usable = False
        with contextlib.suppress(OSError, AssertionError):  # gone, or no answer in time
            answer = client.ask(310, send_fields(TOPIC, e=queue_id), body)
            is_usable = True
            outcome = _OUTCOMES[outcome_of(answer.code)]
            if outcome is SentOutcome.ACKNOWLEDGED:
                offset = int(answer.ext_fields["queueOffset"])
        ended = time.monotonic_ns()
        if is_usable:
            self.answer_seconds.append((ended - began) / 1e9)
        queue = (TOPIC.encode(), queue_id)
        self.sent.append(Sent(name, queue, body, outcome, began, ended, offset))
        return is_usable

    # Consumers.

    def _consume(self, number: int) -> None:
        reading = self.readings[number]
        next_commit = 0.0
        while not self._is_over.wait(0.05):
            for broker in (self._group.master, *self._group.slaves):
                if self._read(broker, reading):
                    break
            if reading.found and time.monotonic() >= next_commit:
                next_commit = time.monotonic() + _COMMIT_SECONDS
                self._commit(reading)

    def _read(self, broker: Broker, reading: Reading) -> bool:
        """Read until there is no more; False: it does not answer."""
        client = _connected(broker)
        if client is None:
            return False
        with client, contextlib.suppress(OSError, AssertionError):
            while not self._is_over.is_set():
                offset = reading.found[-1].offset + 1 if reading.found else 0
                fields = pull_fields(TOPIC, GROUP, offset, queueId=reading.queue[1], maxMsgNums=200)
                answer = client.ask(RequestCode.PULL_MESSAGE, fields)
                # A slave that lacks messages sends its readers nowhere else.
                is_moved = answer.code == ResponseCode.PULL_OFFSET_MOVED
                if is_moved and answer.ext_fields["nextBeginOffset"] != str(offset):
                    where = f"to {answer.ext_fields['nextBeginOffset']} by broker {broker.number}"
                    reading.moved.append(f"{offset} {where}: {answer.remark}")
                if answer.code != ResponseCode.SUCCESS:
                    return True
                reading.found += messages_in(bytes(answer.body))
        return False

    def _commit(self, reading: Reading) -> None:
        offset = reading.found[-1].offset + 1
        client = _connected(self._group.master)
        if client is None:
            return
        fields = offset_fields(reading.queue[1])
        with client, contextlib.suppress(OSError, AssertionError):
            code = RequestCode.UPDATE_CONSUMER_OFFSET
            if client.ask(code, {**fields, "commitOffset": str(offset)}).code == 0:
                reading.commits.append((time.monotonic(), offset))


def offset_fields(queue_id: int) -> dict[str, str]:
    return {"consumerGroup": GROUP, "topic": TOPIC, "queueId": str(queue_id)}


def messages_in(body: bytes) -> list[Found]:
    return [
        Found(one.body.partition(b" ")[0], one.queue_offset, one.body)
        for one in decode_records(body)
    ]


def _connected(broker: Broker) -> WireClient | None:
    if not broker.is_running:
        return None
    try:
        return broker.client(_PATIENCE_SECONDS)
    except OSError:
        return None
