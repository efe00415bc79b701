"""`Message`: a received message, with the methods that acknowledge, retry or reject it.

    async with message.process():        # at the end: ack; after an exception: retried later
        ...

or one by one: `ack`, `nack(delay=…)`, `reject(reason=…)`, `extend(…)`. The first of them settles
the message; a call after that, or after its queue went to another member, has no effect. If a
handler is cancelled, its message is neither acknowledged nor counted as failed: it is handed out
again.
"""

import json
import logging
from collections.abc import Awaitable
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Protocol, cast

from aerobee.client.api.client_options import Duration, seconds_of
from aerobee.client.core.consume.backoff import Backoff
from aerobee.client.core.send.outgoing import Codec, to_json
from aerobee.protocol.message.received_message import ReceivedMessage

_log = logging.getLogger(__name__)


class Holder(Protocol):
    """The part of a consumer that handed a message out and carries out `ack`, `nack` and so on."""

    def settle(self, message: "Message") -> None:
        """Acknowledge a message without waiting for the broker."""

    def settle_all(self, messages: "list[Message]") -> None:
        """Acknowledge many messages, all handed out by this holder."""

    def told(self) -> Awaitable[None]:
        """Wait until the acknowledgements so far have been passed on as far as this holder must."""

    def ack(self, message: "Message") -> Awaitable[None]: ...

    def nack(self, message: "Message", seconds: float | None) -> Awaitable[None]: ...

    def reject(self, message: "Message", reason: str) -> Awaitable[None]: ...

    def extend(self, message: "Message", seconds: float) -> Awaitable[None]: ...

    def reply(self, message: "Message", body: object, codec: Codec) -> Awaitable[None]: ...

    def give_back(self, message: "Message") -> None:
        """Take a message back that is not being worked on any more; it is handed out again as it
        is.
        """


class Message(ReceivedMessage):
    """A received message. Immutable. Fields: body, topic, tag, keys, headers, message_id, attempt,
    queue, offset, born_at, stored_at; and `properties`, with all that RocketMQ added.
    """

    __slots__ = ()

    @property
    def born_at(self) -> datetime:
        """The sender's time of sending."""
        return datetime.fromtimestamp(self.born_timestamp / 1000, UTC)

    @property
    def stored_at(self) -> datetime:
        """The broker's time of storing."""
        return datetime.fromtimestamp(self.store_timestamp / 1000, UTC)

    def json(self) -> Any:
        """The body, read as JSON; ValueError if it is none. `NaN` and `Infinity`, which JSON does
        not have and other senders in Python write, are read as floats: to refuse them would only
        make dead letters of messages that are stored already.
        """
        return json.loads(self.body)

    def process(self, *, retry: Backoff | None = None) -> "Processing":
        """A context for working on the message: acknowledged at the end, retried later after an
        exception, which is logged and not raised. `retry` replaces the consumer's backoff.
        """
        return Processing(self, retry)

    def ack(self) -> Awaitable[None]:
        """Acknowledge the message: it was handled."""
        return self.held_by().ack(self)

    def nack(self, *, delay: Duration | None = None) -> Awaitable[None]:
        """Have the message delivered again later, until `max_attempts` are used up."""
        seconds = None if delay is None else seconds_of(delay, "delay")
        return self.held_by().nack(self, seconds)

    def reject(self, *, reason: str = "") -> Awaitable[None]:
        """Make the message a dead letter at once: no further attempt would help."""
        return self.held_by().reject(self, reason)

    def extend(self, more: Duration) -> Awaitable[None]:
        """Keep a popped message hidden for so long from now. A pulled one needs no extending."""
        return self.held_by().extend(self, seconds_of(more, "more"))

    def reply(self, body: object, *, codec: Codec = to_json) -> Awaitable[None]:
        """Answer a message that was sent with `client.request`. This does not acknowledge it.
        SendFailed: the requesting client has stopped waiting, or has gone.
        """
        return self.held_by().reply(self, body, codec)

    def held_by(self) -> Holder:
        """The part of the consumer that handed it out."""
        return cast(Holder, self.holder)

    def __repr__(self) -> str:
        return (
            f"<Message {self.message_id} of {self.topic}, {self.queue} offset {self.offset}, "
            f"attempt {self.attempt}, {len(self.body)} bytes>"
        )


class Processing:
    """The context manager of `async with message.process()`."""

    __slots__ = ("_message", "_retry")

    def __init__(self, message: Message, retry: Backoff | None) -> None:
        self._message = message
        self._retry = retry

    async def __aenter__(self) -> Message:
        return self._message

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        message = self._message
        if error is None:
            if not message.is_settled:
                message.held_by().settle(message)
            return False
        if not isinstance(error, Exception):
            message.held_by().give_back(message)
            return False
        if not message.is_settled:
            _log.warning("%r failed and is to be tried again", message, exc_info=error)
            delay = None if self._retry is None else self._retry.seconds(message.attempt)
            await message.nack(delay=delay)
        return True
