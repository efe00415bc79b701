"""Request and Answer: a request while it is handled, and its result.

A handler returns an answer, or None and answers later, for example after a sync. A one-way request
is never answered. A request that waits keeps only what its answer needs: its fields and body are
dropped, because a peer decides how many wait.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from aerobee.errors import AerobeeError
from aerobee.model.access import User
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Effects, Reply, Welcome
from aerobee.protocol.remoting.remoting_command import RemotingCommand, reply_to
from aerobee.protocol.response_codes import ResponseCode
from aerobee.protocol.text.fields import Fields

_log = logging.getLogger(__name__)


class Answer(NamedTuple):
    code: ResponseCode = ResponseCode.SUCCESS
    remark: str = ""
    fields: Mapping[str, str] | None = None
    body: bytes = b""
    parts: Sequence[memoryview] = ()
    """The rest of the body: slices of the log, written without a copy."""


OK = Answer()


def excess_remark(excess: str) -> str:
    """The remark of the answer to a header with this excess (see `CommandHeader`)."""
    return f"the request header is too large: {excess} (send fewer or shorter fields)"


REMOTING = "remoting"
GRPC = "grpc"


class Request:
    protocol_type = REMOTING
    """The protocol that its client speaks, by RocketMQ's name for it."""

    __slots__ = (
        "_heard",
        "_outbox",
        "body",
        "channel",
        "command",
        "fields",
        "host",
        "is_held",
        "now",
        "user",
    )

    def __init__(
        self,
        channel: ChannelId,
        command: RemotingCommand,
        now: Now,
        outbox: Effects,
        heard: "Heard | None" = None,
    ) -> None:
        """`heard` is called for the answer."""
        self.channel = channel
        self.command = command
        self.now = now
        self.fields = Fields(command.ext_fields)
        self.body = bytes(command.body)  # a copy: the command's own is a view of the read buffer
        self._outbox = outbox
        self._heard = heard
        self.is_held = False
        """Whether it is held for long polling."""
        self.host = ""
        """The address that it came from, where it is known."""
        self.user: User | None = None
        """The user whose signature it has; None: nobody was asked who it is."""

    def answer(self, answer: Answer) -> None:
        if self.command.is_oneway:
            return
        reply = reply_to(
            self.command,
            answer.code,
            remark=answer.remark,
            ext_fields=dict(answer.fields or {}),
            body=answer.body,
        )
        self._outbox.append(Reply(self.channel, reply, answer.parts))
        if self._heard is not None:
            self._heard(self, answer.code)

    def welcome(self) -> None:
        """Its peer has shown who it is."""
        self._outbox.append(Welcome(self.channel))

    def hear(self, heard: "Heard") -> None:
        """Have another one called for the answer, too."""
        before = self._heard
        if before is None:
            self._heard = heard
            return
        first = before

        def both(request: Request, code: ResponseCode) -> None:
            first(request, code)
            heard(request, code)

        self._heard = both

    def forget(self) -> None:
        """Drop everything that an answer does not need."""
        self.body = b""
        self.command.body = b""
        self.command.ext_fields = {}
        self.fields = Fields({})

    def answer_when_saved(self, error: BaseException | None) -> None:
        """Answer a change of something on the disk; `error`: why it was not saved."""
        if error is None:
            self.answer(OK)
        else:
            self.answer(Answer(ResponseCode.SYSTEM_ERROR, f"it was not saved: {error}"))


class InnerRequest(Request):
    """A request that a call of gRPC becomes: its answer is a value, not a command."""

    protocol_type = GRPC

    __slots__ = ("_then",)

    def __init__(
        self,
        channel: ChannelId,
        command: RemotingCommand,
        now: Now,
        then: "Callable[[Answer], None]",
        heard: "Heard | None" = None,
    ) -> None:
        super().__init__(channel, command, now, [], heard)
        self._then = then

    def answer(self, answer: Answer) -> None:
        if self._heard is not None:
            self._heard(self, answer.code)
        self._then(answer)


def answer_with(handle: "Callable[[Request], Answer | None]", request: Request) -> None:
    """Handle a request, and answer it even if the handler fails."""
    try:
        answer = handle(request)
    except AerobeeError as error:
        answer = Answer(ResponseCode.SYSTEM_ERROR, str(error))
    except Exception as error:
        # A bug in a handler. Only this request fails.
        _log.exception("a handler failed", extra={"code": request.command.code})
        answer = Answer(ResponseCode.SYSTEM_ERROR, f"internal error: {error!r}"[:500])
    if answer is not None:
        request.answer(answer)
    else:
        request.forget()


Handler: TypeAlias = Callable[[Request], Answer | None]
ConsumerRefusal: TypeAlias = Callable[[Request, str, str], Answer | None]
"""Returns the answer to a request that waits for messages of a topic, as a group, and must not."""
Heard: TypeAlias = Callable[[Request, ResponseCode], None]
