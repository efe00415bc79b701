"""Everything that the net layer needs to know about a name server or a broker.

A service takes commands and the time, and returns effects: what is to be written, sent and closed.
It knows no socket, no loop and no thread, so the same object runs under asyncio, inside a test and
in the simulator. Whoever drives it carries the effects out in their order.

`take` is the one concession to speed: a service may handle frames in place, without a command or
an effect being made for each, and append the answers to the channel's output.
"""

from collections.abc import Sequence
from typing import NamedTuple, NewType, Protocol, TypeAlias

from aerobee.ports.clock import Now
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer

ChannelId = NewType("ChannelId", int)
"""One live connection. Numbers are not used again in the life of a process."""


class Peer(NamedTuple):
    """Who is at the other end of a channel."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Reply(NamedTuple):
    """Write a command to a channel: an answer, or a request of the service's own (the service
    keeps its own opaques and is given the response by `on_command`)."""

    channel: ChannelId
    command: RemotingCommand
    parts: Sequence[memoryview] = ()
    """What follows the command's own body, in pieces that are not copied."""


class Write(NamedTuple):
    """Write frames that were made before."""

    channel: ChannelId
    frames: bytes


class Dial(NamedTuple):
    """Send a request to an address, over a connection that the driver keeps. The answer comes as
    `on_answer` with the same ticket; an error (no connection, no answer in time) as None."""

    address: str
    command: RemotingCommand
    timeout_ms: int
    ticket: object


class CloseChannel(NamedTuple):
    channel: ChannelId
    reason: str


Effect: TypeAlias = Reply | Write | Dial | CloseChannel
Effects: TypeAlias = list[Effect]


class Service(Protocol):
    def on_open(self, channel: ChannelId, peer: Peer, now: Now) -> Effects: ...

    def on_command(self, channel: ChannelId, command: RemotingCommand, now: Now) -> Effects:
        """A request, or the response to a request that the service wrote to this channel."""

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> Effects:
        """What became of a `Dial`."""

    def on_tick(self, now: Now) -> Effects:
        """Called a few milliseconds after every event, at once when disk work is over, and every
        few milliseconds otherwise (but see `PatientService`): whatever is due."""

    def on_closed(self, channel: ChannelId, now: Now) -> Effects: ...


class FastService(Service, Protocol):
    """A service with a short way for the frames that come by the hundred thousand."""

    def take(self, channel: ChannelId, frames: FrameReader, output: ReplyBuffer, now: Now) -> bool:
        """Handle the current frame and those after it, and append their answers. True: the current
        one is left, to be decoded for `on_command`; False: there is no further frame."""

    def settle(self, now: Now, took_ms: int) -> Effects:
        """A round of reads is over: what was put off until now (dispatch, wake-ups). Comes before
        the next read, but after the answers of this round. `now` is of its first read, which was
        so many ms ago."""


class PatientService(Service, Protocol):
    """A service that knows when it has nothing to do, so that an idle process costs nothing."""

    def rest_ms(self, now: Now) -> int:
        """Asked after a tick: for how long it need not be called, unless something happens. Below
        0: there is more to do, as soon as others had their turn."""


class EndingService(Service, Protocol):
    """A service that has something to say or to keep when it ends."""

    def stop(self, now: Now) -> Effects:
        """Called once: the last effects. Nothing comes in any more, but ticks and answers do, for
        a moment, so that others can be told and answers that wait for the disk still go out."""
