"""`RequestReply` sends a request message, waits for its reply, and sends replies.

    reply = await client.request("prices", b"ACME", timeout=2)

    async for message in consumer:
        await message.reply(b"17.50")

A request names its client; the reply goes to a broker that knows that client by its heartbeat, and
the broker pushes it to the client. So a reply arrives only while the client waits for it.

Imports more than 15 modules because it both asks brokers and is asked by them.
"""

import asyncio
import contextlib
import logging
from typing import cast

from aerobee.client.api.message import Message
from aerobee.client.connection.session import Session
from aerobee.client.core.send.outgoing import Codec, Draft, body_bytes
from aerobee.client.send.delivery import RETRIES, Delivery
from aerobee.errors import ConnectionLost, Misuse, RequestTimeout, TopicNotFound
from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset, MessageQueue, QueueId, QueueOffset
from aerobee.model.names import reply_topic
from aerobee.model.properties import (
    CLUSTER,
    CORRELATION_ID,
    MESSAGE_TYPE,
    REPLY_TO_CLIENT,
    REQUEST_TTL,
    UNIQUE_KEY,
    decode_properties,
)
from aerobee.net.line import Line
from aerobee.protocol.headers.replying import PushReplyHeader
from aerobee.protocol.message.received_message import MessageReader
from aerobee.protocol.message.stored_message import encode_record
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand, reply_to
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode

_log = logging.getLogger(__name__)

_REPLY = "reply"
_NOWHERE = Host("127.0.0.1", 0)


class RequestReply:
    """The requests of one client that wait for their replies."""

    def __init__(self, session: Session, delivery: Delivery) -> None:
        self._session = session
        self._delivery = delivery
        self._waiting: dict[str, asyncio.Future[Message]] = {}
        self._topics: set[str] = set()

    async def request(
        self, draft: Draft, *, queue: MessageQueue | None = None, timeout: float
    ) -> Message:
        """Send a request and return its reply. RequestTimeout: the request is stored, and no reply
        came in time.
        """
        self._session.check()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        await self._join(draft.topic)
        correlation_id = self._session.new_id()
        draft.properties[CORRELATION_ID] = correlation_id
        draft.properties[REPLY_TO_CLIENT] = self._session.client_id
        draft.properties[REQUEST_TTL] = str(round(timeout * 1000))
        reply: asyncio.Future[Message] = loop.create_future()
        self._waiting[correlation_id] = reply
        try:
            sent = await self._delivery.deliver(
                draft, queue=queue, timeout=deadline - loop.time(), retries=RETRIES
            )
            async with asyncio.timeout_at(deadline):
                return await reply
        except TimeoutError:
            raise RequestTimeout(
                f"nobody has replied to {draft.unique_id} in {timeout:g} s",
                address=sent.queue.broker_name,
                hint=f"it is stored: does a consumer of {draft.topic} reply?",
            ) from None
        finally:
            del self._waiting[correlation_id]

    async def reply(self, message: Message, body: object, codec: Codec) -> None:
        """Answer a request. SendFailed: the requesting client has stopped waiting, or has gone."""
        self._session.check()
        asked = message.properties
        try:
            cluster, client = asked[CLUSTER], asked[REPLY_TO_CLIENT]
            correlation_id = asked[CORRELATION_ID]
        except KeyError:
            raise Misuse(
                f"{message.message_id} asks for no reply", hint="it was sent, not requested"
            ) from None
        draft = Draft(
            reply_topic(cluster),
            body_bytes(body, codec),
            {
                MESSAGE_TYPE: _REPLY,
                CORRELATION_ID: correlation_id,
                REPLY_TO_CLIENT: client,
                REQUEST_TTL: asked.get(REQUEST_TTL, "3000"),
                UNIQUE_KEY: self._session.new_id(),
            },
            code=int(RequestCode.SEND_REPLY_MESSAGE_V2),
        )
        # Whoever asked is known there: that is where the request went.
        queue = MessageQueue(draft.topic, message.queue.broker_name, QueueId(0))
        await self._delivery.deliver(draft, queue=queue, retries=0)

    async def _join(self, topic: str) -> None:
        """Send heartbeats to every broker that a reply may come from."""
        if topic in self._topics:
            return
        route = await self._session.routes.of(topic, may_be_new=True)
        for cluster in {broker.cluster for broker in route.brokers.values()}:
            with contextlib.suppress(TopicNotFound):
                await self._session.routes.of(reply_topic(cluster))
        if not self._topics:
            self._session.dispatch.add(RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT, self._replied)
            await self._session.members.produce(self._session.options.group)
        else:
            await self._session.members.beat()
        self._topics.add(topic)

    def _replied(self, line: Line, command: RemotingCommand) -> bool:
        header = read_header(PushReplyHeader, command.ext_fields)
        properties = decode_properties(header.properties.encode())
        reply = self._waiting.get(properties.get(CORRELATION_ID, ""))
        if reply is None or reply.done():
            return False  # too late
        record = encode_record(
            StoredMessage(
                topic=header.topic,
                queue_id=QueueId(header.queue_id),
                queue_offset=QueueOffset(0),
                log_offset=LogOffset(0),
                body=bytes(command.body),
                properties=properties,
                born_timestamp=header.born_timestamp,
                born_host=_NOWHERE,
                store_timestamp=header.store_timestamp,
                store_host=_NOWHERE,
                flag=header.flag,
                sys_flag=header.sys_flag,
            )
        )
        queue = MessageQueue(header.topic, "", QueueId(header.queue_id))
        reply.set_result(cast("Message", MessageReader(Message).read(record, queue, None)[0]))
        if not command.is_oneway:
            try:
                line.tell(reply_to(command, ResponseCode.SUCCESS))
            except ConnectionLost:
                _log.debug("%s does not wait for its answer", line.address)
        return True
