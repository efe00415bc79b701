"""STAGE_BATCH and PUBLISH_STAGED: store batches now, and make them visible later, all at once.

A staged batch is checked like SEND_ONCE (`send_once`): its marks count on, and are for the queue
that it names. So publishing it later cannot fail because of its content.

Imports more than 15 modules because it checks, stores and answers two requests.
"""

from aerobee.errors import ProtocolError, StorageError
from aerobee.protocol.bodies.staged_places import decode_places
from aerobee.protocol.headers.staging import (
    PublishStagedHeader,
    StageBatchHeader,
    StagedBatchHeader,
)
from aerobee.protocol.message.marked_batch import MarkedBatch
from aerobee.protocol.message.producer_mark import ROUND_MAX, decode_mark, is_producer_id, place_of
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.store_refusals import message_too_large, refused_by_store
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.staging.round_publishing import RoundPublishing
from aerobee.service.broker.staging.staged_batch import StagedBatch, staged_message
from aerobee.service.broker.state.topics import Topics
from aerobee.service.request import Answer, Request


class StagingHandlers:
    def __init__(
        self,
        topics: Topics,
        writer: MessageWriter,
        publishing: RoundPublishing,
        body_bytes_max: int,
    ) -> None:
        """`body_bytes_max` limits one batch, as it limits one send."""
        self._body_bytes_max = body_bytes_max
        self._topics = topics
        self._writer = writer
        self._publishing = publishing
        self._marked = MarkedBatch()

    def rows(self) -> list[Row]:
        return [
            row(RequestCode.STAGE_BATCH, StageBatchHeader, self._stage, Lane.SEND),
            row(RequestCode.PUBLISH_STAGED, PublishStagedHeader, self._publish, Lane.CLIENT),
        ]

    def _stage(self, request: Request, header: StageBatchHeader) -> Answer | None:
        fault = self._find_fault(header, request.body)
        if fault is not None:
            return fault
        batch = StagedBatch(
            header.write_id, header.round_id, header.topic, header.queue_id, request.body
        )
        try:
            stored = self._writer.put_as_is(staged_message(batch, request.now.wall_ms), request.now)
        except StorageError as error:
            return refused_by_store(error)
        answer = Answer(fields=write_header(StagedBatchHeader(stored.log_offset)))
        self._writer.answers.answer(request, stored.end_offset, answer, "it may not be staged")
        return None

    def _find_fault(self, header: StageBatchHeader, body: bytes) -> Answer | None:
        if not is_producer_id(header.write_id) or not 0 <= header.round_id <= ROUND_MAX:
            return Answer(
                ResponseCode.INVALID_PARAMETER,
                f"round {header.round_id} of {header.write_id[:200]!r} cannot be",
            )
        topic = self._topics.find(header.topic)
        if topic is None:
            return Answer(
                ResponseCode.TOPIC_NOT_EXIST,
                f"topic[{header.topic[:200]}] not exist: nothing is staged for it, create it first",
            )
        is_queue = 0 <= header.queue_id < topic.write_queues
        if not is_queue or not self._topics.takes_sends(topic):
            return Answer(
                ResponseCode.NO_PERMISSION,
                f"queue {header.queue_id} of {header.topic} cannot be written to",
            )
        if len(body) > self._body_bytes_max:
            return message_too_large(self._body_bytes_max)
        if not self._marked.read(body):
            return Answer(
                ResponseCode.MESSAGE_ILLEGAL,
                "marks that do not follow the first, or do not come last",
            )
        if decode_mark(self._marked.text).place != place_of(header.topic, header.queue_id):
            return Answer(ResponseCode.MESSAGE_ILLEGAL, "the marks are for another queue")
        return None

    def _publish(self, request: Request, header: PublishStagedHeader) -> Answer | None:
        try:
            places = decode_places(request.body)
        except ProtocolError as error:
            return Answer(ResponseCode.INVALID_PARAMETER, error.message)
        if not is_producer_id(header.write_id) or not 0 <= header.round_id <= ROUND_MAX:
            return Answer(
                ResponseCode.INVALID_PARAMETER,
                f"round {header.round_id} of {header.write_id[:200]!r} cannot be",
            )
        self._publishing.publish(
            header.write_id, header.round_id, places, request.now, request.answer
        )
        return None
