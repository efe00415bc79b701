"""SEND_ONCE: stores messages of a send that are new, and answers repeated ones with their old
offsets.

    read the marks ─┬─ all stored before ─▶ answer, once the log is durable
                    ├─ part of a batch stored before ─▶ the rest ─▶ message writer ─▶ answer for all
                    └─ all new ─▶ message writer ─▶ sequences noted ─▶ answer

The producer mark of a message has its producer, epoch and sequence (docs/formats/deduplication.md).
A quiet batch (its sender asks for no offsets) whose marks are the last properties and count on from
the first, as the Spark sink writes them, is judged and noted as a whole, without decoding each
message.

After a power cut a batch may be stored in part. Judging and noting are one step of the core's
thread: nothing happens in between.
"""

from collections.abc import Callable

from aerobee.errors import ProtocolError, RemoteProtocolError
from aerobee.model.names import is_retry_topic
from aerobee.model.properties import PRODUCER_MARK, find_property
from aerobee.ports.clock import Now
from aerobee.protocol.message.marked_batch import MarkedBatch
from aerobee.protocol.message.message_batch import batch_entries, with_property
from aerobee.protocol.message.producer_mark import (
    ProducerMark,
    decode_mark,
    encode_follower,
    encode_mark,
    place_of,
)
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.deduplication.known_producers import KnownProducers, fenced
from aerobee.service.broker.deduplication.seen_sequences import (
    NO_PLACE,
    SequenceVerdict,
    StoredPlace,
)
from aerobee.service.broker.log_access.message_writer import StoredAt
from aerobee.service.broker.send.send_request import SendRequest
from aerobee.service.request import Answer

_MARK = PRODUCER_MARK.encode()


class SendOnce:
    def __init__(self, known: KnownProducers, end_offset: Callable[[], int]) -> None:
        """`end_offset` returns the end of the log."""
        self._known = known
        self._end_offset = end_offset
        self._marked = MarkedBatch()

    def store(
        self, sending: SendRequest, put: Callable[[], StoredAt], now: Now
    ) -> StoredAt | Answer:
        """Store the new messages of a send: `put` stores `sending` as it is when called (its body
        may have been cut to the new messages)."""
        if sending.is_quiet and sending.is_batch:
            stored = self._store_whole(sending, put, now)
            if stored is not None:
                return stored
        try:
            entries = batch_entries(sending.body) if sending.is_batch else []
            mark = _mark_of(sending, entries)
        except ProtocolError as error:
            return Answer(ResponseCode.MESSAGE_ILLEGAL, error.message)
        count = len(entries) or 1
        refusal = self._find_refusal(sending, mark, count)
        if refusal is not None:
            return refusal
        places = self._places(sending, mark, count)
        fresh = [index for index, place in enumerate(places) if place is None]
        if not fresh:
            self._note_epoch(mark, now)
            return self._repeated(sending, [place or NO_PLACE for place in places])
        if len(fresh) < count:
            # Each by itself: the message that it would follow is elsewhere.
            sending.body = b"".join(
                with_property(entries[index], PRODUCER_MARK, encode_mark(mark.next(index)))
                for index in fresh
            )
        stored = put()
        self._note_epoch(mark, now)
        for number, index in enumerate(fresh):
            place = NO_PLACE
            if not sending.is_quiet:
                place = StoredPlace(stored.queue_offset + number, stored.record_offsets[number])
            places[index] = place
            self._known.note(mark.next(index), sending.topic, sending.queue_id, place, now.wall_ms)
        if len(fresh) == count:
            return stored
        return stored._replace(
            queue_offset=(places[0] or NO_PLACE).queue_offset,
            record_offsets=_offsets([place or NO_PLACE for place in places]),
        )

    def _store_whole(
        self, sending: SendRequest, put: Callable[[], StoredAt], now: Now
    ) -> StoredAt | Answer | None:
        """Store or recognise a batch that is all new or all repeated; None: look at each
        message."""
        count = self._marked.read(sending.body)
        if count == 0:
            return None
        mark = decode_mark(self._marked.text)
        refusal = self._find_refusal(sending, mark, 1)
        if refusal is not None:
            return refusal
        seen = self._known.find(mark.producer, sending.topic, sending.queue_id)
        verdict = SequenceVerdict.NEW if seen is None else seen.judge_run(mark.sequence, count)
        if verdict is SequenceVerdict.NOT_KNOWN:
            return None
        if verdict is SequenceVerdict.REPEATED:
            self._note_epoch(mark, now)
            return self._repeated(sending, [NO_PLACE])
        stored = put()
        self._note_epoch(mark, now)
        self._known.note_run(mark, count, sending.topic, sending.queue_id, now.wall_ms)
        return stored

    def _note_epoch(self, mark: ProducerMark, now: Now) -> None:
        """Have producers with a smaller epoch refused; after `put`, because a message that is not
        taken changes nothing."""
        if mark.epoch > self._known.epoch_of(mark.producer):
            self._known.raise_epoch(mark.producer, mark.epoch, now.wall_ms)

    def _find_refusal(self, sending: SendRequest, mark: ProducerMark, count: int) -> Answer | None:
        if is_retry_topic(sending.topic):
            return Answer(ResponseCode.MESSAGE_ILLEGAL, "nothing is sent once to a retry topic")
        if mark.place != place_of(sending.topic, sending.queue_id):
            return Answer(
                ResponseCode.MESSAGE_ILLEGAL,
                f"the mark is not for queue {sending.queue_id} of {sending.topic}: what is sent "
                "once names its queue",
            )
        epoch = self._known.epoch_of(mark.producer)
        if mark.epoch < epoch:
            return fenced(mark.producer, mark.epoch, epoch)
        seen = self._known.find(mark.producer, sending.topic, sending.queue_id)
        if seen is None:
            return _forgotten(mark, "nothing") if sending.is_known else None
        for index in range(count):
            if seen.judge(mark.sequence + index) is SequenceVerdict.NOT_KNOWN:
                return _forgotten(mark, f"nothing before {seen.floor}")
        return None

    def _places(
        self, sending: SendRequest, mark: ProducerMark, count: int
    ) -> list[StoredPlace | None]:
        """The place of each message that is stored; None: it is new."""
        seen = self._known.find(mark.producer, sending.topic, sending.queue_id)
        if seen is None:
            return [None] * count
        return [
            seen.place(sequence) if seen.judge(sequence) is SequenceVerdict.REPEATED else None
            for sequence in range(mark.sequence, mark.sequence + count)
        ]

    def _repeated(self, sending: SendRequest, places: list[StoredPlace]) -> StoredAt:
        """The result for a send that is all stored. It is answered once the log is durable up to
        its present end, because it is not known how far back the messages are."""
        first = places[0]
        return StoredAt(
            first.log_offset,
            sending.topic,
            sending.queue_id,
            first.queue_offset,
            self._end_offset(),
            _offsets(places),
            is_repeated=True,
        )


def _offsets(places: list[StoredPlace]) -> list[int]:
    """The log offsets; an empty list if one is forgotten, because clients match ids by index."""
    return [] if NO_PLACE in places else [place.log_offset for place in places]


def _mark_of(sending: SendRequest, entries: list[bytes]) -> ProducerMark:
    """The mark of the message, or of the first in a batch; each of the others must have the mark
    that counts on from it, or a follower's mark."""
    if not sending.is_batch:
        return decode_mark(sending.properties.get(PRODUCER_MARK, ""))
    mark = decode_mark(_property_of(entries[0]).decode("ascii", "replace"))
    for index, entry in enumerate(entries[1:], 1):
        said = _property_of(entry).decode("ascii", "replace")
        if said not in (encode_follower(index), encode_mark(mark.next(index))):
            raise RemoteProtocolError(f"the mark of message {index} does not follow the first")
    return mark


def _property_of(entry: bytes) -> bytes:
    """The mark of a batch entry. The search begins behind the body, which may contain its bytes."""
    body_end = 20 + int.from_bytes(entry[16:20], "big")
    return find_property(entry[body_end + 2 :], _MARK) or b""


def _forgotten(mark: ProducerMark, what: str) -> Answer:
    return Answer(
        ResponseCode.PRODUCER_FORGOTTEN,
        f"{what} is known any more of {mark.producer!r} in this queue: it cannot be told whether "
        f"message {mark.sequence} is stored",
    )
