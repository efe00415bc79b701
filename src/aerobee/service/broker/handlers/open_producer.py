"""OPEN_PRODUCER: begin to send under a producer id, or take it over from whoever sent before.

The answer names the epoch to send with and the last sequence in each queue of a topic, so that a
producer can go on counting (docs/formats/deduplication.md). A broker that is not ours knows no such
request: that is how a client finds out.
"""

from aerobee.protocol.bodies.producer_sequences import encode_last_sequences
from aerobee.protocol.declared_header import write_header
from aerobee.protocol.headers.producing_once import OpenedProducerHeader, OpenProducerHeader
from aerobee.protocol.producer_mark import NUMBER_MAX, is_producer_id
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.deduplication.epochs import Epochs
from aerobee.service.broker.deduplication.known_producers import KnownProducers
from aerobee.service.broker.handlers.send_once import fenced
from aerobee.service.broker.request_table import Lane, Right, Row, row
from aerobee.service.request import Answer, Request


class OpenProducerHandlers:
    def __init__(self, known: KnownProducers, epochs: Epochs) -> None:
        self._known = known
        self._epochs = epochs

    def rows(self) -> list[Row]:
        return [
            row(
                RequestCode.OPEN_PRODUCER,
                OpenProducerHeader,
                self._open,
                Lane.CLIENT,
                Right.PUBLISH,
            )
        ]

    def _open(self, request: Request, header: OpenProducerHeader) -> Answer | None:
        producer = header.producer_id
        if not is_producer_id(producer):
            return Answer(ResponseCode.INVALID_PARAMETER, f"{producer[:200]!r} is no producer id")
        known = self._known.epoch_of(producer)
        if 0 <= header.epoch < known:
            return fenced(producer, header.epoch, known)
        if header.epoch > NUMBER_MAX or (header.epoch < 0 and known >= NUMBER_MAX):
            return Answer(
                ResponseCode.INVALID_PARAMETER,
                f"no epoch of {producer!r} can be greater than {NUMBER_MAX}",
            )

        def opened(epoch: int, error: BaseException | None) -> None:
            if error is not None:
                request.answer_when_saved(error)
                return
            last = self._known.last_sequences(producer, header.topic)
            said = write_header(OpenedProducerHeader(epoch))
            request.answer(Answer(fields=said, body=encode_last_sequences(last)))

        self._epochs.open(producer, header.epoch, request.now, opened)
        return None
