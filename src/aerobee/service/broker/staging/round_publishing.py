"""RoundPublishing publishes a round of staged batches: decided first, then finished after any stop.

    places ─▶ there? ─▶ on the disk ─▶ decided, on the disk ─▶ stored in their queues ─▶ on the disk
                                                │                      ▲                    │
                                      a start continues here ──────────┘          done ◀────┘

P1. A round is published whole or not at all: a decided round is finished, after a crash before
    requests are served.
P2. Nothing is stored twice: the messages have producer marks, and stored ones are recognised. A
    round that is done is never published again: its marks are dropped.
P3. Up to 32 MiB are stored in one step, so that consumers see all of them or none; more than that
    in several steps, between which other requests are served.

Called from the core's thread only.
"""

import logging
from collections.abc import Callable, Sequence

from aerobee.errors import StorageError
from aerobee.model.message import Host
from aerobee.ports.clock import Now
from aerobee.protocol.message.marked_batch import MarkedBatch
from aerobee.protocol.message.producer_mark import decode_mark
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.deduplication.known_producers import KnownProducers, too_many
from aerobee.service.broker.log_access.message_writer import MessageWriter, StoredAt
from aerobee.service.broker.send.send_request import SendRequest
from aerobee.service.broker.staging.staged_batch import StagedBatch, staged_at
from aerobee.service.broker.state.staged_rounds import StagedRound, StagedRounds
from aerobee.service.request import OK, Answer
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

STEP_BYTES = 32 << 20
RETRY_MS = 100
"""The wait after the store refused a batch."""
REST_MS = 500
_NOWHERE = Host("0.0.0.0", 0)
_DUPLICATE = Answer(fields={"duplicate": "true"})
_NOT_SAFE = Answer(ResponseCode.SYSTEM_ERROR, "the disk failed: it is not known to be published")

Told = Callable[[Answer], None]
StoreOnce = Callable[[SendRequest, Callable[[], StoredAt], Now], StoredAt | Answer]
"""The signature of `SendOnce.store`."""


class _Round:
    """A round that is being published."""

    __slots__ = (
        "is_decided",
        "next",
        "places",
        "producers",
        "round_id",
        "told",
        "used_ms",
        "write_id",
    )

    def __init__(self, write_id: str, round_id: int, places: Sequence[int], used_ms: int) -> None:
        self.write_id = write_id
        self.round_id = round_id
        self.places = tuple(places)
        self.used_ms = used_ms
        self.next = 0
        self.is_decided = False
        self.told: list[Told] = []
        self.producers: set[str] = set()
        """The producers of its messages."""

    def decision(self, *, is_done: bool) -> StagedRound:
        places = () if is_done else self.places
        return StagedRound(self.round_id, places, is_done, self.used_ms)


class RoundPublishing:
    def __init__(
        self,
        staged_rounds: StagedRounds,
        store: Store,
        writer: MessageWriter,
        known: KnownProducers,
        store_once: StoreOnce,
    ) -> None:
        self._staged_rounds = staged_rounds
        self._store = store
        self._writer = writer
        self._known = known
        self._store_once = store_once
        self._marked = MarkedBatch()
        self._rounds: dict[str, _Round] = {}
        self._refused_ms = 0

    def finish_decided(self, now: Now) -> None:
        """Finish decided rounds that a stop interrupted, before requests are served. Blocks on the
        disk, because with SYNC_FLUSH only synced messages are visible."""
        begin = self._store.end_offset
        for write_id, decision in self._staged_rounds.open():
            one = _Round(write_id, decision.round_id, decision.places, decision.used_ms)
            one.is_decided = True
            self._rounds[write_id] = one
            while one.is_decided and self._put_some(one, now):
                pass
        if self._store.end_offset > begin:
            self._store.sync()
            self._show_all()

    def _show_all(self) -> None:
        """Dispatch the log to the queues, as far as the disk has room for them."""
        before = -1
        while before < self._store.dispatched_offset < self._store.end_offset:
            before = self._store.dispatched_offset
            self._store.dispatch()

    def publish(
        self, write_id: str, round_id: int, places: Sequence[int], now: Now, told: Told
    ) -> None:
        """Publish these batches as a round; `told` gets the answer, perhaps at once."""
        going = self._rounds.get(write_id)
        if going is not None:
            if going.round_id == round_id:
                going.told.append(told)
            else:
                told(Answer(ResponseCode.SYSTEM_BUSY, f"round {going.round_id} is not done yet"))
            return
        decided = self._staged_rounds.find(write_id)
        if decided is not None and round_id <= decided.round_id:
            told(_DUPLICATE if round_id == decided.round_id else _over(write_id, decided.round_id))
            return
        refusal = self._find_refusal(write_id, round_id, places)
        if refusal is not None:
            told(refusal)
            return
        one = self._rounds[write_id] = _Round(write_id, round_id, places, now.wall_ms)
        one.told.append(told)
        # A power cut must not take batches of a decided round.
        self._store.wait_for(self._store.end_offset, lambda is_safe: self._decide(one, is_safe))

    def on_tick(self, now: Now) -> None:
        if now.monotonic_ms < self._refused_ms:
            return
        for one in list(self._rounds.values()):
            if one.is_decided:
                self._put_some(one, now)

    def rest_ms(self, now: Now) -> int:
        is_waiting = any(one.is_decided for one in self._rounds.values())
        return max(1, self._refused_ms - now.monotonic_ms) if is_waiting else REST_MS

    def _find_refusal(self, write_id: str, round_id: int, places: Sequence[int]) -> Answer | None:
        limit = self._known.limits.queues
        pairs: set[tuple[str, str]] = set()
        for place in places:
            batch = staged_at(self._store, place)
            if batch is None:
                fault = f"no batch is staged at {place}: retention may have removed it"
                return Answer(ResponseCode.INVALID_PARAMETER, fault)
            if (batch.write_id, batch.round_id) != (write_id, round_id):
                fault = f"the batch at {place} is of round {batch.round_id} of {batch.write_id!r}"
                return Answer(ResponseCode.INVALID_PARAMETER, fault)
            # With so many, a producer may be forgotten before the last batch is stored: then a
            # repeated publishing would store its messages twice.
            if len(places) > limit and self._marked.read(batch.body):
                mark = decode_mark(self._marked.text)
                pairs.add((mark.producer, mark.place))
        if len(pairs) > limit:
            return Answer(
                ResponseCode.TOO_MANY_PRODUCERS, too_many(f"{write_id}/", self._known.limits)
            )
        return None

    def _decide(self, one: _Round, is_safe: bool) -> None:
        if not is_safe:
            self._end(one, _NOT_SAFE)
            return

        def decided(error: BaseException | None) -> None:
            if error is None:
                one.is_decided = True
            else:
                self._end(one, Answer(ResponseCode.SYSTEM_ERROR, f"it was not saved: {error}"))

        self._staged_rounds.decide(one.write_id, one.decision(is_done=False), decided)

    def _put_some(self, one: _Round, now: Now) -> bool:
        """Store the next batches of a round; whether there are more."""
        room = STEP_BYTES
        while one.next < len(one.places) and room > 0:
            batch = staged_at(self._store, one.places[one.next])
            if batch is None:
                # It was readable when the round was decided: only damage explains this.
                _log.error(
                    "round %d of %s: its batch at %d cannot be read, and is left out",
                    one.round_id,
                    one.write_id,
                    one.places[one.next],
                )
            else:
                try:
                    self._put(one, batch, now)
                except StorageError as error:
                    _log.warning("round %d of %s waits: %s", one.round_id, one.write_id, error)
                    self._refused_ms = now.monotonic_ms + RETRY_MS
                    return False
                room -= len(batch.body)
            one.next += 1
        if one.next < len(one.places):
            return True
        one.is_decided = False  # nothing more to store
        self._store.wait_for(self._store.end_offset, lambda is_safe: self._finish(one, is_safe))
        return False

    def _put(self, one: _Round, batch: StagedBatch, now: Now) -> None:
        sending = SendRequest(
            group="",
            topic=batch.topic,
            default_topic="",
            default_queues=0,
            queue_id=batch.queue_id,
            sys_flag=0,
            born_timestamp=now.wall_ms,
            flag=0,
            properties={},
            reconsume_times=0,
            reconsume_times_max=-1,
            is_batch=True,
            version=0,
            body=batch.body,
            is_once=True,
            is_quiet=True,
        )
        if self._marked.read(batch.body):
            mark = decode_mark(self._marked.text)
            self._known.begin_round(mark.producer, batch.round_id, now.wall_ms)
            one.producers.add(mark.producer)
        stored = self._store_once(
            sending,
            lambda: self._writer.put_draft(sending.batch(_NOWHERE), now, is_quiet=True),
            now,
        )
        if isinstance(stored, Answer):
            _log.error("a staged batch for %s is left out: %s", batch.topic, stored.remark)

    def _finish(self, one: _Round, is_safe: bool) -> None:
        if not is_safe:
            self._end(one, _NOT_SAFE)
            return

        def saved(error: BaseException | None) -> None:
            # Not saved: the next start publishes it again, and recognises all of it.
            if error is not None:
                _log.error("that round %d of %s is done: %s", one.round_id, one.write_id, error)
            else:
                self._known.let_go(one.producers, one.round_id)
            self._end(one, OK)

        self._staged_rounds.decide(one.write_id, one.decision(is_done=True), saved)

    def _end(self, one: _Round, answer: Answer) -> None:
        del self._rounds[one.write_id]
        for told in one.told:
            told(answer)


def _over(write_id: str, round_id: int) -> Answer:
    return Answer(
        ResponseCode.PRODUCER_FENCED, f"{write_id!r} has published round {round_id} already"
    )
