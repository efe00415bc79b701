"""SEND_MESSAGE and its variants on the general path: every send that `fast_send` does not take.

    checks ─▶ topic made if need be ─▶ dead letter? ─┬─▶ message writer ─┬─▶ durable ─▶ answer
                                       half message ─┴─▶ half keeper ────┘

If CONSUMER_SEND_MSG_BACK fails, a consumer sends the message to its group's retry topic itself:
such a send becomes a dead letter once it was tried often enough, or at once if the group consumes
in order.

Imports more than 15 modules because every kind of send comes by here.
"""

from collections.abc import Mapping

from aerobee.errors import (
    LocalProtocolError,
    MessageIllegal,
    PropertiesTooLong,
    StorageError,
)
from aerobee.model.message import Host
from aerobee.model.properties import POP_CHECKPOINT, UNIQUE_KEY
from aerobee.model.topic import TopicConfig
from aerobee.ports.service import ChannelId, Peer
from aerobee.protocol.message.producer_mark import DUPLICATE
from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.log_access.message_writer import HalfKeeper, MessageWriter, StoredAt
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.send.send_checks import SendChecks
from aerobee.service.broker.send.send_once import SendOnce
from aerobee.service.broker.send.send_request import SendRequest, read_send_request
from aerobee.service.broker.send.send_stamp import SendStamp
from aerobee.service.broker.send.topic_creation import TopicMaker
from aerobee.service.request import Answer, Request, answer_with

_NOT_KNOWN = Answer(ResponseCode.SYSTEM_ERROR, "the disk failed: it is not known to be stored")
_CODES = (
    RequestCode.SEND_MESSAGE,
    RequestCode.SEND_MESSAGE_V2,
    RequestCode.SEND_BATCH_MESSAGE,
    RequestCode.SEND_ONCE,
)


class SendHandlers:
    def __init__(
        self,
        writer: MessageWriter,
        half_keeper: HalfKeeper,
        checks: SendChecks,
        make_topic: TopicMaker,
        stamp: SendStamp,
        peers: Mapping[ChannelId, Peer],
        broker_name: str,
        once: SendOnce,
    ) -> None:
        self._writer = writer
        self._half_keeper = half_keeper
        self._checks = checks
        self._make_topic = make_topic
        self._stamp = stamp
        self._peers = peers
        self._broker_name = broker_name
        self._once = once
        self._turn = 0

    def rows(self) -> list[Row]:
        return [row(code, NoHeader, self._send, Lane.SEND, takes_excess=True) for code in _CODES]

    def _send(self, request: Request, header: NoHeader) -> Answer | None:
        try:
            sending = read_send_request(request.command, request.body)
        except MessageIllegal as error:
            return self._stamp.on_storage_error(error)
        # The address is looked up now: while a topic is made, the sender may disconnect.
        return self._go_on(request, sending, Host(*self._peers[request.channel]))

    def _go_on(self, request: Request, sending: SendRequest, born_host: Host) -> Answer | None:
        fault = self._checks.find_fault(sending)
        if fault is None:
            to_make = self._checks.topic_to_make(sending, request.now)
            fault = to_make if isinstance(to_make, Answer) else None
            if isinstance(to_make, TopicConfig):
                fault = self._checks.find_size_fault(sending)
                if fault is None:
                    self._make_topic(
                        to_make, request, lambda: self._once_more(request, sending, born_host)
                    )
                    return None
        if fault is not None:
            return self._stamp.on_refusal(fault)
        return self._store(request, sending, born_host)

    def _once_more(self, request: Request, sending: SendRequest, born_host: Host) -> None:
        """The topic is made: run the send again."""
        answer_with(lambda request: self._go_on(request, sending, born_host), request)

    def _store(self, request: Request, sending: SendRequest, born_host: Host) -> Answer | None:
        config = self._checks.check_topic(sending)
        if isinstance(config, Answer):
            return self._stamp.on_refusal(config)
        self._turn += 1
        sending.fit_to(config, self._turn)
        try:
            stored = self._put(request, sending, born_host)
            if isinstance(stored, Answer):
                return self._stamp.on_refusal(stored)
        except PropertiesTooLong:  # not as they came, but with what the broker adds
            return self._stamp.on_too_large()
        except LocalProtocolError as error:
            return self._stamp.on_refusal(Answer(ResponseCode.MESSAGE_ILLEGAL, str(error)))
        except StorageError as error:
            return self._stamp.on_storage_error(error)
        # Built now, so that the message is not kept in memory until the disk has it.
        answer = self._answer(sending, stored)

        def answerable(code: ResponseCode) -> None:
            if code is ResponseCode.SYSTEM_ERROR:
                request.answer(self._stamp.on_refusal(_NOT_KNOWN))
            else:
                request.answer(answer._replace(code=code))

        self._writer.answers.wait(stored.end_offset, request.now, answerable)
        return None

    def _put(self, request: Request, sending: SendRequest, born_host: Host) -> StoredAt | Answer:
        if not sending.is_once:
            return self._put_all(request, sending, born_host)
        return self._once.store(
            sending, lambda: self._put_all(request, sending, born_host), request.now
        )

    def _put_all(self, request: Request, sending: SendRequest, born_host: Host) -> StoredAt:
        if sending.is_batch:
            batch = sending.batch(born_host)
            return self._writer.put_draft(batch, request.now, is_quiet=sending.is_quiet)
        sending.properties.pop(POP_CHECKPOINT, None)
        self._stamp.on_message(sending.properties, request.now)
        message = sending.message(born_host)
        if sending.is_half:
            return self._half_keeper.open(message, sending.group, request.now)
        return self._writer.put(message, request.now)

    def _answer(self, sending: SendRequest, stored: StoredAt) -> Answer:
        said = {
            "msgId": "" if sending.is_quiet else self._stamp.message_ids(stored.record_offsets),
            "queueId": str(sending.queue_id),
            "queueOffset": str(stored.queue_offset),
        }
        if UNIQUE_KEY in sending.properties:  # else a batch: its messages have their own
            said["transactionId"] = sending.properties[UNIQUE_KEY]
        if stored.is_repeated:
            said[DUPLICATE] = "true"
        handle = sending.recall_handle(self._broker_name, stored.out_ms)
        if handle:
            said["recallHandle"] = handle
        return Answer(fields=self._stamp.on_answer(said))
