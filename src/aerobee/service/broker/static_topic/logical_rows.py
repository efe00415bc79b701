"""LogicalRows puts the translation of logical queues in front of the handlers of a broker.

request ─▶ no static topic, or `lo` is false ─▶ its handler
         └▶ not the leader ─▶ NOT_LEADER_FOR_QUEUE
         └▶ translation ─▶ handler of this broker, or forwarding ─▶ … ─▶ answer
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

from aerobee.model.queue_mapping import TopicMapping
from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.state.queue_mappings import QueueMappings
from aerobee.service.broker.static_topic import logical_offsets
from aerobee.service.broker.static_topic.forwarding import LOGICAL, Forwarding
from aerobee.service.broker.static_topic.logical_pull import pull
from aerobee.service.broker.static_topic.logical_send import (
    LogicalSend,
    find_leader,
    topic_of_send,
)
from aerobee.service.broker.static_topic.translation import Ask, LogicalQueue, Translation
from aerobee.service.request import Answer, Request, answer_with

Translate: TypeAlias = Callable[[LogicalQueue, Any], Translation]

TRANSLATIONS: dict[RequestCode, Translate] = {
    RequestCode.PULL_MESSAGE: pull,
    RequestCode.LITE_PULL_MESSAGE: pull,
    RequestCode.QUERY_CONSUMER_OFFSET: logical_offsets.query_offset,
    RequestCode.UPDATE_CONSUMER_OFFSET: logical_offsets.commit_offset,
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: logical_offsets.search_offset,
    RequestCode.GET_MAX_OFFSET: logical_offsets.max_offset,
    RequestCode.GET_MIN_OFFSET: logical_offsets.min_offset,
    RequestCode.GET_EARLIEST_MSG_STORETIME: logical_offsets.earliest_time,
}
SENDS = (
    RequestCode.SEND_MESSAGE,
    RequestCode.SEND_MESSAGE_V2,
    RequestCode.SEND_BATCH_MESSAGE,
    RequestCode.SEND_ONCE,
)


class _Part(Request):
    """A request about a physical queue, on behalf of one about a logical queue."""

    __slots__ = ("_then", "_whole")

    def __init__(
        self, whole: Request, command: RemotingCommand, then: Callable[[Answer], None]
    ) -> None:
        super().__init__(whole.channel, command, whole.now, [])
        self._whole = whole
        self._then = then

    def answer(self, answer: Answer) -> None:
        self._whole.is_held = self.is_held
        self._then(answer)


class LogicalRows:
    def __init__(
        self, rows: Sequence[Row], mappings: QueueMappings, forwarding: Forwarding
    ) -> None:
        self._rows = {one.code: one for one in rows}
        self._mappings = mappings
        self._forwarding = forwarding
        self._turn = 0

    def rows(self) -> list[Row]:
        """The rows of the broker, with the translation in front of those about queues."""
        return [self._translated(one) for one in self._rows.values()]

    def _translated(self, one: Row) -> Row:
        if one.code in SENDS:
            return one._replace(handle=partial(self._send, one))
        translate = TRANSLATIONS.get(one.code)
        if translate is None:
            return one
        return one._replace(handle=partial(self._serve, one, translate))

    def _mapping(self, request: Request, topic: str) -> TopicMapping | None:
        """The mapping of a request about a logical queue."""
        mapping = self._mappings.find(topic)
        if mapping is None or request.command.ext_fields.get(LOGICAL, "").lower() == "false":
            return None
        return mapping

    # Sends.

    def _send(self, one: Row, request: Request, header: NoHeader) -> Answer | None:
        command = request.command
        mapping = self._mapping(request, topic_of_send(command))
        if mapping is None:
            return one.handle(request, header)
        self._turn += 1
        found = find_leader(mapping, command, self._turn)
        if not isinstance(found, LogicalSend):
            return _not_leader(mapping, found)

        def answered(answer: Answer) -> None:
            request.answer(found.answer(answer))

        answer = one.handle(_Part(request, found.command(command), answered), header)
        return None if answer is None else found.answer(answer)

    # Pulls and offsets.

    def _serve(
        self, one: Row, translate: Translate, request: Request, header: Any
    ) -> Answer | None:
        mapping = self._mapping(request, header.topic or "")
        if mapping is None or header.queue_id is None:
            return one.handle(request, header)
        chain = mapping.led_chain(header.queue_id)
        if chain is None:
            return _not_leader(mapping, header.queue_id)
        queue = LogicalQueue(mapping.topic, header.queue_id, chain)
        return self._go_on(mapping, translate(queue, header), request, None)

    def _go_on(
        self,
        mapping: TopicMapping,
        translation: Translation,
        request: Request,
        answer: Answer | None,
    ) -> Answer | None:
        """Run a translation until it waits. `answer` is that to its last question."""

        def resume(answer: Answer) -> None:
            answer_with(lambda whole: self._go_on(mapping, translation, whole, answer), request)

        while True:
            try:
                # A generator that has not begun takes None only.
                ask: Ask = next(translation) if answer is None else translation.send(answer)
            except StopIteration as end:
                found: Answer = end.value
                return found
            if ask.broker != mapping.broker:
                self._forwarding.ask(mapping.topic, ask, request.now, resume)
                return None
            part = _Part(request, request.command, resume)
            answer = self._rows[ask.code].handle(part, ask.header)
            if answer is None:
                return None


def _not_leader(mapping: TopicMapping, number: int) -> Answer:
    return Answer(
        ResponseCode.NOT_LEADER_FOR_QUEUE,
        f"{mapping.topic}-{number} does not exit in request process of current broker "
        f"{mapping.broker}",
    )
