"""OPEN_PRODUCER: begins to send under a producer id, or takes it over from the client before.

The answer has the epoch to send with and the last sequence in each queue of a topic, so that a
producer can continue to count (docs/formats/deduplication.md). Work in rounds opens each round, and
is told the plan of the first opening. Apache's broker does not know this request: that is how a
client finds out.

A broker remembers a bounded number of producers and queues. A round that alone needs more is
refused before any message of it is stored: otherwise its own first producers would be forgotten. If
other tasks of the round will finish, it may wait for them. Opening a finished round is answered
with ROUND_FINISHED: there is nothing left to send.
"""

from collections.abc import Callable

from aerobee.protocol.bodies.producer_sequences import encode_last_sequences
from aerobee.protocol.headers.producing_once import (
    NoRoomHeader,
    OpenedProducerHeader,
    OpenProducerHeader,
)
from aerobee.protocol.message.producer_mark import (
    NUMBER_MAX,
    PLAN_CHARS_MAX,
    ROUND_EPOCHS,
    ROUND_MAX,
    is_producer_id,
)
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.deduplication.known_producers import KnownProducers, fenced, too_many
from aerobee.service.broker.deduplication.producer_epochs import EpochRound, Opened, ProducerEpochs
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.request import Answer, Request

PLANS_MAX = 256
"""Limit of topics in one round of one producer."""


class OpenProducerHandlers:
    def __init__(
        self, known: KnownProducers, epochs: ProducerEpochs, queues_of: Callable[[str], int]
    ) -> None:
        """`queues_of` returns the number of queues of a topic that can be sent to, or will be."""
        self._known = known
        self._queues_of = queues_of
        self._epochs = epochs

    def rows(self) -> list[Row]:
        return [row(RequestCode.OPEN_PRODUCER, OpenProducerHeader, self._open, Lane.CLIENT)]

    def _open(self, request: Request, header: OpenProducerHeader) -> Answer | None:
        producer = header.producer_id
        if not is_producer_id(producer):
            return Answer(ResponseCode.INVALID_PARAMETER, f"{producer[:200]!r} is no producer id")
        if header.round_id is not None and self._known.finished.covers(
            producer, header.topic, header.round_id
        ):
            return self._over(header, header.round_id)
        known = self._known.epoch_of(producer)
        if 0 <= header.epoch < known:
            return fenced(producer, header.epoch, known)
        if header.epoch > NUMBER_MAX or (header.epoch < 0 and known >= NUMBER_MAX):
            return Answer(
                ResponseCode.INVALID_PARAMETER,
                f"no epoch of {producer!r} can be greater than {NUMBER_MAX}",
            )
        if header.round_id is not None:
            return self._open_round(request, header, header.round_id, header.plan or "")
        self._epochs.open(producer, header.epoch, request.now, self._answer(request, header, None))
        return None

    def _over(self, header: OpenProducerHeader, round_id: int) -> Answer:
        floor = self._known.finished.epoch_floor(header.producer_id)
        if floor // ROUND_EPOCHS > round_id:
            return fenced(header.producer_id, round_id * ROUND_EPOCHS, floor)
        return Answer(
            ResponseCode.ROUND_FINISHED,
            f"all that round {round_id} of {header.producer_id!r} has for {header.topic} is stored",
        )

    def _open_round(
        self, request: Request, header: OpenProducerHeader, round_id: int, wanted: str
    ) -> Answer | None:
        producer = header.producer_id
        if not 0 <= round_id <= ROUND_MAX or len(wanted) > PLAN_CHARS_MAX:
            return Answer(
                ResponseCode.INVALID_PARAMETER,
                f"a round's number is from 0 to {ROUND_MAX}, its plan has at most "
                f"{PLAN_CHARS_MAX} characters",
            )
        epoch = header.epoch if header.epoch >= 0 else self._epochs.next_in(producer, round_id)
        if epoch // ROUND_EPOCHS != round_id:
            return fenced(producer, round_id * ROUND_EPOCHS, self._known.epoch_of(producer))
        known = self._known.find_producer(producer)
        plans = known.plans if known is not None and known.round_id == round_id else {}
        if header.topic not in plans and len(plans) >= PLANS_MAX:
            return Answer(
                ResponseCode.INVALID_PARAMETER, f"more than {PLANS_MAX} topics in one round"
            )
        plan = plans.get(header.topic, wanted)
        queues = self._queues_of(header.topic)
        if not self._known.has_room(producer, round_id, header.topic, queues):
            may_wait = self._known.may_get_room(producer, round_id, queues)
            return Answer(
                ResponseCode.TOO_MANY_PRODUCERS,
                too_many(producer, self._known.limits),
                fields=write_header(NoRoomHeader(may_wait)),
            )
        round_ = EpochRound(round_id, {header.topic: plan}, {header.topic: queues})
        told = self._answer(request, header, plan)
        self._epochs.open_round(producer, epoch, round_, request.now, told)
        return None

    def _answer(self, request: Request, header: OpenProducerHeader, plan: str | None) -> Opened:
        def opened(epoch: int, error: BaseException | None) -> None:
            if error is not None:
                request.answer_when_saved(error)
                return
            last = self._known.last_sequences(header.producer_id, header.topic)
            is_crowded = plan is not None and self._known.is_crowded(header.producer_id)
            said = write_header(OpenedProducerHeader(epoch, plan, is_crowded or None))
            request.answer(Answer(fields=said, body=encode_last_sequences(last)))

        return opened
