"""A message as a consumer hands it out, and what is to become of it.

    async for message in consumer:
        async with message.process():        # well → acknowledged; an exception → tried again later
            ...

or, in so many words: `ack`, `nack(delay=…)`, `reject(reason=…)`, `extend(…)`. Each settles the
message once; what is said of it after that, or after its queue went to another member, is nothing.
A handler that is cancelled has neither done its work nor failed: its message is handed out again.
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
    """Who handed a message out, and hears what became of it."""

    def settle(self, message: "Message") -> None:
        """Acknowledge without waiting for anything."""

    def settle_all(self, messages: "list[Message]") -> None:
        """The same of many, all of them its own."""

    def told(self) -> Awaitable[None]:
        """Until whoever must know has heard of what was settled just now."""

    def ack(self, message: "Message") -> Awaitable[None]: ...

    def nack(self, message: "Message", seconds: float | None) -> Awaitable[None]: ...

    def reject(self, message: "Message", reason: str) -> Awaitable[None]: ...

    def extend(self, message: "Message", seconds: float) -> Awaitable[None]: ...

    def reply(self, message: "Message", body: object, codec: Codec) -> Awaitable[None]: ...

    def give_back(self, message: "Message") -> None:
        """Nobody works on it any more; to be handed out again as it is."""


class Message(ReceivedMessage):
    """Immutable. What it says: body, topic, tag, keys, headers, message_id, attempt, queue, offset,
    born_at, stored_at; and `properties`, with all that RocketMQ added."""

    __slots__ = ()

    @property
    def born_at(self) -> datetime:
        """When its sender says that it was sent."""
        return datetime.fromtimestamp(self.born_timestamp / 1000, UTC)

    @property
    def stored_at(self) -> datetime:
        """When the broker stored it."""
        return datetime.fromtimestamp(self.store_timestamp / 1000, UTC)

    def json(self) -> Any:
        """The body, read as JSON. ValueError if it is none. `NaN` and `Infinity`, which JSON does
        not have and other senders in Python write, are read as the floats they stand for: to refuse
        them would only make dead letters of messages that are stored already."""
        return json.loads(self.body)

    def process(self, *, retry: Backoff | None = None) -> "Processing":
        """Work on it: acknowledged at the end, tried again later after an exception, which then
        goes no further. `retry`: when; otherwise as the consumer was told."""
        return Processing(self, retry)

    def ack(self) -> Awaitable[None]:
        """It was handled."""
        return self.held_by().ack(self)

    def nack(self, *, delay: Duration | None = None) -> Awaitable[None]:
        """It could not be handled: have it again later, until `max_attempts` are used up."""
        seconds = None if delay is None else seconds_of(delay, "delay")
        return self.held_by().nack(self, seconds)

    def reject(self, *, reason: str = "") -> Awaitable[None]:
        """It never can be handled: it becomes a dead letter at once."""
        return self.held_by().reject(self, reason)

    def extend(self, more: Duration) -> Awaitable[None]:
        """Work on it takes so long yet: only a popped message would otherwise come again."""
        return self.held_by().extend(self, seconds_of(more, "more"))

    def reply(self, body: object, *, codec: Codec = to_json) -> Awaitable[None]:
        """Answer it, if it was sent with `client.request`. It is not acknowledged by that.
        SendFailed: whoever asked does not wait any more, or has gone."""
        return self.held_by().reply(self, body, codec)

    def held_by(self) -> Holder:
        """Who handed it out."""
        return cast(Holder, self.holder)

    def __repr__(self) -> str:
        return (
            f"<Message {self.message_id} of {self.topic}, {self.queue} offset {self.offset}, "
            f"attempt {self.attempt}, {len(self.body)} bytes>"
        )


class Processing:
    """`async with message.process()`."""

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
