"""A request on its way through a handler, and its answer.

A handler returns an answer, or None and answers later, when the disk has it. A request that nobody
waits for is never answered, whatever happens to it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Effects, Reply
from aerobee.protocol.fields import Fields
from aerobee.protocol.remoting_command import RemotingCommand, reply_to
from aerobee.protocol.response_codes import ResponseCode


class Answer(NamedTuple):
    code: ResponseCode = ResponseCode.SUCCESS
    remark: str = ""
    fields: Mapping[str, str] | None = None
    body: bytes = b""
    parts: Sequence[memoryview] = ()
    """The rest of the body: slices of the log, written as they are."""


OK = Answer()


class Request:
    __slots__ = ("_outbox", "body", "channel", "command", "fields", "now")

    def __init__(
        self, channel: ChannelId, command: RemotingCommand, now: Now, outbox: Effects
    ) -> None:
        self.channel = channel
        self.command = command
        self.now = now
        self.fields = Fields(command.ext_fields)
        self.body = bytes(command.body)  # the command's own refers to what was received
        self._outbox = outbox

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

    def answer_when_saved(self, error: BaseException | None) -> None:
        """What a change of something on the disk is told."""
        if error is None:
            self.answer(OK)
        else:
            self.answer(Answer(ResponseCode.SYSTEM_ERROR, f"it was not saved: {error}"))


Handler: TypeAlias = Callable[[Request], Answer | None]
