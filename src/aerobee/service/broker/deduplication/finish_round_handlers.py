"""FINISH_ROUND: a client says that a task, or a whole write, has stored its part of a round for a
topic.

The broker can then drop the marks of it (docs/formats/deduplication.md). The request may be
repeated, and may be left out: marks expire. A task's request is accepted only with its current
epoch, because a later attempt may still be sending; a request for a whole write always is.
"""

from aerobee.protocol.headers.producing_once import FinishedRoundHeader, FinishRoundHeader
from aerobee.protocol.message.producer_mark import ROUND_MAX, is_producer_id
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.deduplication.finished_rounds import is_task
from aerobee.service.broker.deduplication.known_producers import KnownProducers, fenced
from aerobee.service.broker.deduplication.round_completion import RoundCompletion
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.request import OK, Answer, Request

_TOPIC_CHARS_MAX = 255


class FinishRoundHandlers:
    def __init__(self, known: KnownProducers, round_completion: RoundCompletion) -> None:
        self._known = known
        self._round_completion = round_completion

    def rows(self) -> list[Row]:
        return [row(RequestCode.FINISH_ROUND, FinishRoundHeader, self._finish, Lane.CLIENT)]

    def _finish(self, request: Request, header: FinishRoundHeader) -> Answer:
        task = "0" if header.task is None else str(header.task)
        producer = f"{header.write_id}/{task}"
        if (
            not header.write_id
            or not is_producer_id(producer)
            or not is_task(task)
            or not 0 <= header.round_id <= ROUND_MAX
            or not 0 < len(header.topic) <= _TOPIC_CHARS_MAX
        ):
            return Answer(
                ResponseCode.INVALID_PARAMETER,
                f"task {task} of round {header.round_id} of {header.write_id[:200]!r} cannot be",
            )
        if header.task is not None:
            return self._finish_task(request, header, producer)
        self._round_completion.finish_write(
            header.write_id, header.topic, header.round_id, request.now
        )
        return OK

    def _finish_task(self, request: Request, header: FinishRoundHeader, producer: str) -> Answer:
        if self._known.finished.covers(producer, header.topic, header.round_id):
            return OK
        known = self._known.find_producer(producer)
        if known is None or (known.epoch, known.round_id) != (header.epoch, header.round_id):
            return fenced(producer, header.epoch, self._known.epoch_of(producer))
        epoch = self._round_completion.finish_task(producer, header.topic, request.now)
        return Answer(fields=write_header(FinishedRoundHeader(epoch)))
