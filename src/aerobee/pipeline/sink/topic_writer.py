"""TopicWriter turns the rows of one task for one topic into requests: columns → lanes → requests.

Rows with a delivery time are sent one by one; all others in batches, one lane for each queue.

    sequence   round · 2³² + 0, 1, 2, …          rows, by queue
               round · 2³² + 2³¹ + 0, 1, 2, …    rows with a delivery time
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from aerobee.client.core.send.outgoing import Draft, properties_of
from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue
from aerobee.model.properties import (
    KEYS,
    PRODUCER_MARK,
    SHARDING_KEY,
    TAGS,
    TIMER_DELAY_MS,
    TIMER_DELIVER_MS,
    UNIQUE_KEY,
    WAIT,
    decode_properties,
    is_reserved,
)
from aerobee.pipeline.sink.arrow_input import number_column, properties_column, text_column
from aerobee.pipeline.sink.queue_plan import QueuePlan
from aerobee.pipeline.sink.row_entries import FAULTS, FULL, SPECIAL, WRONG, QueueLane, RowEncoder
from aerobee.pipeline.sink.write_round import OpenedRound
from aerobee.protocol.message.producer_mark import (
    KNOWN,
    QUIET,
    ROUND_SEQUENCES,
    ProducerMark,
    encode_mark,
    place_of,
)
from aerobee.protocol.request_codes import RequestCode

TIMED_SEQUENCES = ROUND_SEQUENCES // 2
ROWS_MAX = 4096  # of one request: what a broker takes
NAMED_ROWS_MAX = 512  # of a plain batch, whose answer names every message
_TIMED_LANES = 8  # of one queue: such rows need not keep their order
_SAID_BY = {"key": KEYS, "tags": TAGS, "orderingKey": SHARDING_KEY}


class Parcel(NamedTuple):
    """One request, with its queue and the lane whose order it keeps."""

    lane: object
    draft: Draft
    queue: MessageQueue


class TopicWriter:
    def __init__(
        self,
        topic: str,
        plan: QueuePlan,
        columns: frozenset[str],
        request_bytes: int,
        partition: int,
        opened: OpenedRound | None,
        new_id: Callable[[], str],
    ) -> None:
        """`opened` is None where rows get no mark; `columns` are the columns of the rows."""
        self._topic = topic
        self._opened = opened
        self._new_id = new_id
        self._queues = plan.queues(topic)
        self._begun: set[int] = set()
        self._timed: dict[int, int] = {}
        self._first = 0 if opened is None else opened.round_id * ROUND_SEQUENCES
        lanes = [self._lane(queue) for queue in self._queues]
        # Tasks and rounds begin with different queues, so that small ones fill all.
        begin = partition + (0 if opened is None else opened.round_id)
        has = frozenset(_SAID_BY[name] for name in columns & _SAID_BY.keys())
        rows_max = NAMED_ROWS_MAX if opened is None else ROWS_MAX
        self._encoder = RowEncoder(
            lanes, request_bytes, rows_max, plan.stripe_rows, begin % len(lanes), has
        )
        self.rows = 0

    def take(self, batch: Any) -> Iterator[Parcel]:
        """Return the requests that a record batch fills; the remaining rows wait for more."""
        encoder = self._encoder
        self._set_columns(batch)
        while True:
            came_to = encoder.take()
            if came_to == FULL:
                yield self._full(encoder.lane)
            elif came_to == SPECIAL:
                yield self._single(batch, encoder.position, encoder.lane)
                encoder.skip()
            elif came_to == WRONG:
                raise Misuse(
                    f"row {self.rows + encoder.position} of a task, for {self._topic}, "
                    f"{FAULTS[encoder.fault]}"
                )
            else:
                break
        self.rows += batch.num_rows

    def finish(self) -> Iterator[Parcel]:
        """Return requests with the remaining rows."""
        for index, lane in enumerate(self._encoder.lanes):
            if lane.count:
                yield self._full(index)

    def _lane(self, queue: MessageQueue) -> QueueLane:
        if self._opened is None:
            return QueueLane(b"", 0, b"")
        head, _, tail = self._mark(queue, self._first).partition(f":{self._first}:")
        return QueueLane(
            f"{PRODUCER_MARK}\x01{head}:".encode(), self._first, f":{tail}\x02".encode()
        )

    def _mark(self, queue: MessageQueue, sequence: int) -> str:
        assert self._opened is not None
        epoch = self._opened.epochs[queue.broker_name]
        place = place_of(queue.topic, queue.queue_id)
        return encode_mark(ProducerMark(self._opened.producer, epoch, sequence, place))

    def _set_columns(self, batch: Any) -> None:
        encoder = self._encoder
        names = batch.schema.names

        def column(name: str, make: Callable[[Any], Any]) -> Any:
            return make(batch.column(name)) if name in names else None

        encoder.key = column("key", text_column)
        encoder.tags = column("tags", text_column)
        encoder.ordering_key = column("orderingKey", text_column)
        encoder.properties = column("properties", properties_column)
        encoder.queue = column("queue", number_column)
        times = [name for name in ("delay", "deliverAt") if name in names]
        encoder.times = column(times[0], number_column) if times else None
        encoder.begin(column("value", text_column))

    def _full(self, index: int) -> Parcel:
        body = self._encoder.lanes[index].body()
        draft = Draft(self._topic, body, {WAIT: "true"}, is_batch=True)
        if self._opened is not None:
            # The next of a lane is sent when the last was acknowledged: should the broker know
            # nothing of it by then, it is to say so.
            draft.code = int(RequestCode.SEND_ONCE)
            draft.fields = {KNOWN: str(index in self._begun).lower(), QUIET: "true"}
            self._begun.add(index)
        return Parcel(index, draft, self._queues[index])

    def _single(self, batch: Any, position: int, index: int) -> Parcel:
        """Return a row with a delivery time, as a message of its own."""
        row = batch.slice(position, 1).to_pylist()[0]
        queue = self._queues[index]
        properties = self._own_properties(row.get("properties"))
        properties |= properties_of(row.get("tags") or "", (), None, row.get("orderingKey") or None)
        if row.get("key"):
            properties[KEYS] = _as_text(row["key"])
        if row.get("delay"):
            properties[TIMER_DELAY_MS] = str(row["delay"])
        else:
            properties[TIMER_DELIVER_MS] = str(int(row["deliverAt"].timestamp() * 1000))
        properties[UNIQUE_KEY] = self._new_id()
        number = self._timed.get(index, 0)
        self._timed[index] = number + 1
        if self._opened is not None:
            sequence = self._first + TIMED_SEQUENCES + number
            properties[PRODUCER_MARK] = self._mark(queue, sequence)
        value = row["value"]
        draft = Draft(self._topic, value.encode() if isinstance(value, str) else value, properties)
        if not draft.body:
            raise Misuse(f"row {self.rows + position} of a task, for {self._topic}, {FAULTS[1]}")
        if self._opened is not None:
            draft.code = int(RequestCode.SEND_ONCE)
            draft.fields = {KNOWN: "false", QUIET: "true"}
        return Parcel((index, number % _TIMED_LANES), draft, queue)

    def _own_properties(self, said: object) -> dict[str, str]:
        if said is None:
            return {}
        pairs = decode_properties(said.encode()) if isinstance(said, str) else dict(said)  # type: ignore[call-overload]
        return {
            name: text
            for name, text in pairs.items()
            if text and (not is_reserved(name) or name in (KEYS, TAGS))
        }


def _as_text(key: object) -> str:
    return key.decode() if isinstance(key, bytes) else str(key)
