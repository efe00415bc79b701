"""SEND_REPLY_MESSAGE: pushes a reply (request-reply pattern) to the requesting client and stores
it.

A request names its client in REPLY_TO_CLIENT; consumers send their reply to the broker's reply
topic with the same property. The replying consumer is answered with success only when the
requesting client has confirmed the reply.

Imports more than 15 modules because a reply is a send and a call of a client at once.
"""

from collections.abc import Mapping

from aerobee.errors import MessageIllegal, MessageTooLarge, PropertiesTooLong, StorageError
from aerobee.model.message import Host
from aerobee.model.properties import PUSH_REPLY_TIME, REPLY_TO_CLIENT, encode_properties
from aerobee.ports.service import ChannelId, Peer
from aerobee.protocol.headers.replying import PushReplyHeader
from aerobee.protocol.remoting.declared_header import NoHeader, write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.clients.client_calls import ClientCalls
from aerobee.service.broker.clients.producers import Producers
from aerobee.service.broker.log_access.message_writer import MessageWriter, StoredAt
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.send.send_checks import SendChecks
from aerobee.service.broker.send.send_request import SendRequest, read_send_request
from aerobee.service.broker.send.send_stamp import SendStamp
from aerobee.service.request import Answer, Request

PUSH_MS_MAX = 3_000  # RocketMQ's; the replier itself waits no longer
_CODES = (RequestCode.SEND_REPLY_MESSAGE, RequestCode.SEND_REPLY_MESSAGE_V2)


class ReplyHandlers:
    def __init__(
        self,
        writer: MessageWriter | None,
        checks: SendChecks,
        stamp: SendStamp,
        peers: Mapping[ChannelId, Peer],
        producers: Producers,
        calls: ClientCalls,
        address: str,
    ) -> None:
        """Without a `writer` replies are not stored; `address` is the broker's own."""
        self._writer = writer
        self._checks = checks
        self._stamp = stamp
        self._peers = peers
        self._producers = producers
        self._calls = calls
        self._address = address

    def rows(self) -> list[Row]:
        return [row(code, NoHeader, self._reply, Lane.SEND, takes_excess=True) for code in _CODES]

    def _reply(self, request: Request, header: NoHeader) -> Answer | None:
        try:
            sending = read_send_request(request.command, request.body)
        except MessageIllegal as error:
            return self._stamp.on_storage_error(error)
        fault = self._checks.find_fault(sending)
        if fault is None:
            found = self._checks.check_topic(sending)
            fault = found if isinstance(found, Answer) else None
        if fault is not None:
            return self._stamp.on_refusal(fault)
        sending.queue_id = max(sending.queue_id, 0)
        self._stamp.on_message(sending.properties, request.now)
        sending.properties[PUSH_REPLY_TIME] = str(request.now.wall_ms)
        client = sending.properties.get(REPLY_TO_CLIENT, "")
        channel = self._producers.find_client(client)
        if channel is None:
            return self._stamp.on_refusal(
                Answer(
                    ResponseCode.SYSTEM_ERROR,
                    f"push reply message fail, channel of <{client[:255]}> not found.",
                )
            )
        try:
            push = self._push(request, sending)
            stored = self._kept(request, sending)
        except (MessageTooLarge, PropertiesTooLong):
            return self._stamp.on_too_large()
        except StorageError as error:
            return self._stamp.on_refusal(Answer(ResponseCode.SYSTEM_ERROR, str(error)))
        place = self._place(sending, stored)
        self._calls.call(
            channel,
            push,
            request.now.monotonic_ms + PUSH_MS_MAX,
            lambda answer: self._pushed(request, place, answer),
        )
        return None

    def _kept(self, request: Request, sending: SendRequest) -> StoredAt | None:
        if self._writer is None:
            return None
        message = sending.message(Host(*self._peers[request.channel]))
        return self._writer.put_as_is(message, request.now)

    def _push(self, request: Request, sending: SendRequest) -> RemotingCommand:
        header = PushReplyHeader(
            producer_group=sending.group,
            topic=sending.topic,
            default_topic=sending.default_topic,
            default_topic_queue_nums=sending.default_queues,
            queue_id=sending.queue_id,
            sys_flag=sending.sys_flag,
            born_timestamp=sending.born_timestamp,
            flag=sending.flag,
            properties=encode_properties(sending.properties).decode(),
            reconsume_times=sending.reconsume_times,
            unit_mode=False,
            born_host=str(self._peers[request.channel]),
            store_host=self._address,
            store_timestamp=request.now.wall_ms,
        )
        return RemotingCommand(
            RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT,
            ext_fields=write_header(header),
            body=sending.body,
        )

    def _place(self, sending: SendRequest, stored: StoredAt | None) -> dict[str, str]:
        place = {"msgId": "0", "queueId": str(sending.queue_id), "queueOffset": "0"}
        if stored is not None:
            place["msgId"] = self._stamp.message_ids(stored.record_offsets)
            place["queueOffset"] = str(stored.queue_offset)
        return place

    def _pushed(
        self, request: Request, place: dict[str, str], answer: RemotingCommand | None
    ) -> None:
        if answer is not None and answer.code == ResponseCode.SUCCESS:
            request.answer(Answer(fields=self._stamp.on_answer(place)))
            return
        reason = answer.remark[:255] if answer is not None else "it did not answer"
        request.answer(
            self._stamp.on_refusal(
                Answer(ResponseCode.SYSTEM_ERROR, f"push reply message fail: {reason}")
            )
        )
