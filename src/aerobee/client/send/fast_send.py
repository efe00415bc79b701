"""The fast path of a send: from a body to a frame in a connection's output, from the answer to a
receipt, without an object per field.

    body ─▶ next queue ─▶ template ─▶ connection   …   answer ─▶ receipt ─▶ waiting task

It serves messages with a body of bytes and no delay, to the next queue, to that of a key, or to one
that is named; one by one, or as many as one request takes. If it cannot serve (no connection yet, a
full output, a clock out of range) `send` returns None and the general path (`delivery`) takes over;
so it does, with the same id, when a try fails.

Q1. A message on the fast path is stored as the general path would store it.
Q2. The clock is read once for all that is written to a connection in one turn of the loop.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aerobee.client.api.receipt import DURABILITIES, BatchReceipt, Receipt
from aerobee.client.core.identity import UniqueIds
from aerobee.errors import Refused
from aerobee.model.message_queue import MessageQueue
from aerobee.net.line import Line
from aerobee.net.waiter import Waiter
from aerobee.protocol.headers.sending import SentHeader
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.response_codes import error_for
from aerobee.protocol.send.send_answer_reader import SendAnswerReader
from aerobee.protocol.send.send_frame_template import SendFrameTemplate

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.java_hash import tag_code

FindLine = Callable[[str], Line | None]
Moment = Callable[[], tuple[int, int]]
"""The time in ms since 1970, and that of the month's start, for ids."""

_BORN_MIN = 10**12  # the templates take times of 13 digits
_BORN_END = 10**13
# Of a batch that is worth a copy more: as a whole, or for each of its messages.
_COPIED_BYTES_MAX = 256 << 10
_COPIED_EACH_BYTES_MAX = 8 << 10
NEXT = -1
"""The place of whichever queue comes next."""


def is_compiled() -> bool:
    return cython.compiled


class SendWaiter(Waiter):
    """Waits for the answer of a send, and makes the receipt."""

    __slots__ = ("_said", "message_id", "queue")

    def __init__(
        self,
        answer: "asyncio.Future[Any]",
        deadline: float,
        said: SendAnswerReader,
        queue: MessageQueue,
        message_id: Any,
    ) -> None:
        """`message_id`: of one message, or a list of those of a batch."""
        self.answer = answer
        self.deadline = deadline
        self.is_fast = True
        self._said = said
        self.queue = queue
        self.message_id = message_id

    def take(self, frames: FrameReader) -> bool:
        said = self._said
        if not said.read(frames):
            return False
        if not self.answer.done():
            self.answer.set_result(self._receipt(said.code, said.ids, said.queue_offset))
        return True

    def end(self, command: Any) -> None:
        """Take an answer that `take` did not read: mostly a refusal."""
        if self.answer.done():
            return
        if command.code in DURABILITIES:
            sent = read_header(SentHeader, command.ext_fields)
            ids = sent.message_ids.encode()
            self.answer.set_result(self._receipt(command.code, ids, sent.queue_offset))
        else:
            self.answer.set_exception(
                error_for(command.code, command.remark)
                or Refused(f"{command.code} is no answer to a send", code=command.code)
            )

    def _receipt(self, code: int, ids: bytes, offset: int) -> object:
        durability = DURABILITIES[code]
        if type(self.message_id) is list:
            return BatchReceipt(self.message_id, ids.decode(), self.queue, offset, durability)
        return Receipt(self.message_id, ids, self.queue, offset, durability)


class FastQueue:
    """One queue with its frame templates and its connection."""

    __slots__ = ("address", "batches", "line", "queue", "singles")

    def __init__(
        self,
        queue: MessageQueue,
        address: str,
        singles: SendFrameTemplate,
        batches: SendFrameTemplate,
    ) -> None:
        self.queue = queue
        self.address = address
        self.singles = singles
        self.batches = batches
        self.line: Any = None  # a Line, once there is one


class FastSend:
    """The fast path to one topic. Made anew when its route changes."""

    __slots__ = (
        "_bytes_max",
        "_count",
        "_find_line",
        "_ids",
        "_loop",
        "_moment",
        "_month_ms",
        "_now",
        "_queues",
        "_said",
        "_turn",
        "_wall_ms",
    )

    def __init__(
        self,
        queues: list[FastQueue],
        start: int,
        ids: UniqueIds,
        find_line: FindLine,
        moment: Moment,
        bytes_max: int,
    ) -> None:
        """`start`: the index before the first queue. `bytes_max`: of one batch."""
        self._bytes_max = bytes_max
        self._queues = queues
        self._count = len(queues)
        self._turn = start
        self._ids = ids
        self._find_line = find_line
        self._moment = moment
        self._loop = asyncio.get_running_loop()
        self._said = SendAnswerReader()
        self._wall_ms = 0
        self._month_ms = 0
        self._now = 0.0

    def send(self, body: bytes, properties: bytes, seconds: float) -> SendWaiter | None:
        """Send one message to the next queue. None: use the general path."""
        return self._send(self._next(), body, properties, seconds)

    def send_in_order(
        self, key: bytes, body: bytes, properties: bytes, seconds: float
    ) -> SendWaiter | None:
        """Send one message to the queue of a key."""
        return self._send(self._at(self.place_for(key)), body, properties, seconds)

    def place_for(self, key: bytes) -> int:
        """The index of the queue of a key, the same as `queue_for_key` picks."""
        code = tag_code(key)
        return (-code if code < 0 else code) % self._count

    def find_place(self, queue: MessageQueue) -> int | None:
        """The index of a queue, by broker and id. The topic's name is not compared."""
        for place in range(self._count):
            found: FastQueue = self._queues[place]
            shown = found.queue
            if shown.queue_id == queue.queue_id and shown.broker_name == queue.broker_name:
                return place
        return None

    def _send(
        self, queue: FastQueue | None, body: bytes, properties: bytes, seconds: float
    ) -> SendWaiter | None:
        if queue is None:
            return None
        line: Line = queue.line
        message_id = self._ids.take_bytes(self._wall_ms - self._month_ms)
        opaque = line.next_opaque()
        queue.singles.put(line.output, opaque, self._wall_ms, message_id, properties, body)
        return self._sent(line, opaque, queue.queue, message_id, seconds)

    def send_batch(
        self,
        place: int,
        bodies: list[Any],
        texts: list[Any] | None,
        text: bytes,
        seconds: float,
    ) -> SendWaiter | None:
        """Send messages as one batch to the queue at an index. Each has its own properties text, or
        all have one. None: use the general path; if that is because of the messages, no queue was
        skipped.
        """
        is_next = place < 0
        if is_next:
            place = (self._turn + 1) % self._count
        queue: FastQueue = self._queues[place]
        template: SendFrameTemplate = queue.batches
        ids: UniqueIds = self._ids
        count = len(bodies)
        size = template.batch_size(bodies, texts, len(text), ids.size)
        if size <= 0 or size > self._bytes_max:
            return None
        if size > _COPIED_BYTES_MAX and size > _COPIED_EACH_BYTES_MAX * count:
            return None
        if is_next:
            self._turn += 1
        if self._at(place) is None:
            return None
        line: Line = queue.line
        opaque = line.next_opaque()
        properties = b"WAIT\x01true\x02"
        template.begin(line.output, opaque, self._wall_ms, len(properties), size)
        line.output.append(properties)
        elapsed = self._wall_ms - self._month_ms
        made: list[bytes] = []
        for index in range(count):
            message_id = ids.take_bytes(elapsed)
            made.append(message_id)
            own = text if texts is None else texts[index]
            template.put_entry(line.output, message_id, own, bodies[index])
        return self._sent(line, opaque, queue.queue, made, seconds)

    def _next(self) -> FastQueue | None:
        """The next queue, if it can be written to at once."""
        self._turn += 1
        return self._at(self._turn % self._count)

    def _at(self, place: int) -> FastQueue | None:
        """A queue, if it can be written to at once."""
        found: FastQueue = self._queues[place]
        line = found.line
        if line is None or not line.can_take():
            line = self._find_line(found.address)
            if line is None or not line.can_take():
                return None
            found.line = line
        if line.output.position == 0:
            self._wall_ms, self._month_ms = self._moment()
            self._now = self._loop.time()
        return found if _BORN_MIN <= self._wall_ms < _BORN_END else None

    def _sent(
        self, line: Line, opaque: int, queue: MessageQueue, message_id: object, seconds: float
    ) -> SendWaiter:
        answer = self._loop.create_future()
        waiter = SendWaiter(answer, self._now + seconds, self._said, queue, message_id)
        line.wait(opaque, waiter)
        line.written()
        return waiter
