"""Receipts: ids, queue and offset of messages that a broker has stored.

A receipt is given for a message in the log of a broker. Whether it survives a crash of that broker
depends on its settings (flush, replication); `durability` is set where the answer said that a flush
or a replica was late. A batch has one receipt, which is a sequence of receipts made when they are
read; a batch that went in several requests has a sequence of those.
"""

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Iterator, Sequence
from enum import Enum
from itertools import accumulate
from typing import TYPE_CHECKING, overload

from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue
from aerobee.protocol.response_codes import ResponseCode

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython

Recall = Callable[["Receipt"], Awaitable[None]]


def is_compiled() -> bool:
    return cython.compiled


class Durability(Enum):
    """The broker's result of flush and replication when it answered."""

    PROMISED = "as promised"
    """Stored, and as safe as the broker is set to make it."""
    NOT_FLUSHED = "not flushed in time"
    """Stored, but the disk did not confirm it in time."""
    NOT_REPLICATED = "not replicated in time"
    """Stored, but no replica confirmed it in time."""


DURABILITIES: dict[int, Durability] = {
    int(ResponseCode.SUCCESS): Durability.PROMISED,
    int(ResponseCode.FLUSH_DISK_TIMEOUT): Durability.NOT_FLUSHED,
    int(ResponseCode.SLAVE_NOT_AVAILABLE): Durability.NOT_REPLICATED,
    int(ResponseCode.FLUSH_SLAVE_TIMEOUT): Durability.NOT_REPLICATED,
}
"""Codes that say that a message is stored."""


class Receipt:
    """Ids, queue and offset of one stored message."""

    __slots__ = (
        "_message_id",
        "_offset_id",
        "_recall",
        "durability",
        "offset",
        "queue",
        "recall_handle",
    )

    def __init__(
        self,
        message_id: str | bytes,
        offset_id: str | bytes,
        queue: MessageQueue,
        offset: int,
        durability: Durability = Durability.PROMISED,
        recall_handle: str = "",
        recall: Recall | None = None,
    ) -> None:
        # As they came: most are never looked at.
        self._message_id = message_id
        self._offset_id = offset_id
        self.queue = queue
        self.offset = offset
        """In the queue."""
        self.durability = durability
        self.recall_handle = recall_handle
        """What takes a delayed message back, from any client; empty for others."""
        self._recall = recall

    @property
    def message_id(self) -> str:
        """The id that the sender gave the message. Consumers see the same."""
        return _text(self._message_id)

    @property
    def offset_id(self) -> str:
        """The id that the broker gave the message: its address and the log offset."""
        return _text(self._offset_id)

    async def cancel(self) -> None:
        """Recall a delayed message that was not delivered yet."""
        if not self.recall_handle or self._recall is None:
            raise Misuse(
                f"{self.message_id} cannot be taken back",
                hint="only a message sent with delay= or deliver_at= to a broker "
                "with recallMessageEnable can",
            )
        await self._recall(self)

    def __repr__(self) -> str:
        return (
            f"Receipt({self.message_id}, {self.queue}, offset {self.offset}, "
            f"{self.durability.value})"
        )


class _Receipts(Sequence[Receipt]):
    """A sequence of receipts, each made when it is read."""

    __slots__ = ()

    @abstractmethod
    def _at(self, number: int) -> Receipt:
        """The one at a place that there is."""

    @overload
    def __getitem__(self, index: int) -> Receipt: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Receipt]: ...

    def __getitem__(self, index: int | slice) -> Receipt | Sequence[Receipt]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        return self._at(range(len(self))[index])


class BatchReceipt(_Receipts):
    """The receipts of a batch, in its order: the messages follow each other in one queue."""

    __slots__ = ("_message_ids", "_offset_ids", "durability", "first_offset", "queue")

    def __init__(
        self,
        message_ids: Sequence[str | bytes],
        offset_ids: str,
        queue: MessageQueue,
        first_offset: int,
        durability: Durability = Durability.PROMISED,
    ) -> None:
        """`offset_ids` as the answer says them, joined by commas."""
        self._message_ids = message_ids
        self._offset_ids: str | list[str] = offset_ids  # taken apart when one is wanted
        self.queue = queue
        self.first_offset = first_offset
        self.durability = durability

    def __len__(self) -> int:
        return len(self._message_ids)

    def _at(self, number: int) -> Receipt:
        return Receipt(
            self._message_ids[number],
            self._offset_id(number),
            self.queue,
            self.first_offset + number,
            self.durability,
        )

    def _offset_id(self, number: int) -> str:
        if isinstance(self._offset_ids, str):
            self._offset_ids = self._offset_ids.split(",")
        # A broker that stores a batch as one record has one id for all.
        return self._offset_ids[number if len(self._offset_ids) == len(self) else 0]

    def __repr__(self) -> str:
        return f"BatchReceipt({len(self)} messages, {self.queue}, from offset {self.first_offset})"


class LongBatchReceipt(_Receipts):
    """The receipts of a batch that went in several requests, in its order."""

    __slots__ = ("_ends", "parts")

    def __init__(self, parts: Sequence[BatchReceipt]) -> None:
        self.parts = parts
        """One for each request: the messages of each are in one queue."""
        self._ends = list(accumulate(map(len, parts)))

    def __len__(self) -> int:
        return self._ends[-1]

    def __iter__(self) -> Iterator[Receipt]:
        for part in self.parts:
            yield from part

    def _at(self, number: int) -> Receipt:
        place = bisect_right(self._ends, number)
        return self.parts[place][number - self._ends[place]]

    def __repr__(self) -> str:
        return f"LongBatchReceipt({len(self)} messages in {len(self.parts)} requests)"


def _text(data: str | bytes) -> str:
    return data.decode() if isinstance(data, bytes) else data
