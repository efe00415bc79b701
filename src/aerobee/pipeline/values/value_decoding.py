"""ValueDecoding decodes the column `value` of a batch: bytes → a struct, message by message.

A body that cannot be decoded becomes an error, a null, or a dead letter (`value_format`). A dead
letter is the unchanged body, in a topic of the query's choice, with its source as properties:

    sourceTopic, sourceBroker, sourceQueueId, sourceOffset, decodeError

It is sent when the batch is read. A task that Spark repeats sends it again: readers of dead letters
recognise repeats by these properties.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from aerobee.errors import AerobeeError
from aerobee.model.message_queue import MessageQueue
from aerobee.pipeline.arrow.schema import OFFSET, VALUE
from aerobee.pipeline.values.value_format import DLQ, FAIL, ValueFormat
from aerobee.pipeline.values.value_types import shaping


class NotDecoded(AerobeeError):
    """A body is not in the format that the query has named."""


class DeadLetter(NamedTuple):
    body: bytes
    headers: dict[str, str]


Bury = Callable[[Sequence[DeadLetter]], None]


class ValueDecoding:
    def __init__(self, format: ValueFormat, bury: Bury) -> None:  # noqa: A002
        """`bury` sends dead letters, and returns when they are stored."""
        self._format = format
        self._decoder = format.decoder()
        self._shape = shaping(self._decoder.type)
        self._bury = bury

    def decoded(self, batch: Any, queue: MessageQueue) -> Any:
        """Return the batch with its values decoded. Its rows are of `queue`, and have the column
        `offset`."""
        bodies = batch.column(VALUE).to_pylist()
        try:
            values = self._array([self._value(body) for body in bodies])
        except Exception:  # a decoder may raise anything; which body it was is found one by one
            return self._one_by_one(batch, bodies, queue)
        return self._with(batch, values)

    def _value(self, body: bytes) -> Any:
        found = self._decoder.decode(body)
        return found if self._shape is None else self._shape(found)

    def _array(self, values: list[Any]) -> Any:
        return pa.array(values, self._decoder.type)

    def _with(self, batch: Any, values: Any) -> Any:
        place = batch.schema.get_field_index(VALUE)
        return batch.set_column(place, pa.field(VALUE, self._decoder.type), values)

    def _one_by_one(self, batch: Any, bodies: list[bytes], queue: MessageQueue) -> Any:
        values: list[Any] = []
        letters: dict[int, DeadLetter] = {}
        offsets = batch.column(OFFSET)
        for row, body in enumerate(bodies):
            try:
                value = self._value(body)
                self._array([value])
            except Exception as error:  # as above
                offset = offsets[row].as_py()
                value = None
                if self._format.on_error == FAIL:
                    raise NotDecoded(
                        f"the body of {queue} at {offset} is no {self._format.kind} of this "
                        f"schema: {error}",
                        hint="onDecodeError=null makes it a null, dlq a dead letter",
                    ) from None
                if self._format.on_error == DLQ:
                    letters[row] = DeadLetter(body, _headers(queue, offset, error))
            values.append(value)
        decoded = self._with(batch, self._array(values))
        if not letters:
            return decoded
        self._bury(list(letters.values()))
        return decoded.filter(pc.invert(pa.array([row in letters for row in range(len(bodies))])))


def _headers(queue: MessageQueue, offset: int, error: Exception) -> dict[str, str]:
    reason = f"{type(error).__name__}: {error}"
    return {
        "sourceTopic": queue.topic,
        "sourceBroker": queue.broker_name,
        "sourceQueueId": str(queue.queue_id),
        "sourceOffset": str(offset),
        "decodeError": "".join(" " if ord(one) < 32 else one for one in reason)[:500],
    }
