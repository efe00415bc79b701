"""Service: the interface between the net layer and a name server or a broker.

A service takes commands and the time, and returns effects: commands to write, requests to send,
connections to close. It knows no socket, no loop and no thread, so the same object runs under
asyncio, inside a test and in the simulator. The driver carries the effects out in their order.

`take` is the fast path: a service may handle frames in place, without a command or an effect for
each, and append the answers to the channel's output.
"""

from collections.abc import Sequence
from typing import NamedTuple, NewType, Protocol, TypeAlias

from aerobee.model.broker_role import RoleChange, Stage
from aerobee.ports.clock import Now
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer

ChannelId = NewType("ChannelId", int)
"""One live connection. Numbers are not used again in the life of a process."""


class Peer(NamedTuple):
    """The remote address of a channel."""

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
    """The rest of the body, behind the command's own, in pieces that are not copied."""


class Write(NamedTuple):
    """Write encoded frames to a channel."""

    channel: ChannelId
    frames: bytes


class Dial(NamedTuple):
    """Send a request to an address, over a connection that the driver keeps. The answer comes as
    `on_answer` with the same ticket; an error (no connection, no answer in time) as None."""

    address: str
    command: RemotingCommand
    timeout_ms: int
    ticket: object


class AnswerAsked(NamedTuple):
    """Answer a request of the server at an address (`AskedService`), on the connection that it came
    on: its opaque says which it is. Nothing happens if that connection is closed."""

    address: str
    command: RemotingCommand


class CloseChannel(NamedTuple):
    channel: ChannelId
    reason: str


class Welcome(NamedTuple):
    """The peer of a channel has shown who it is: the small limits of strangers (`GuardedService`)
    hold for it no more."""

    channel: ChannelId


class Rebuild(NamedTuple):
    """Stop this service and build another on the same store, behind the same sockets: the broker's
    role changes, or its log has to be cut. The process does it after the effects before this one;
    the service gets no further event but its stop."""

    reason: str
    role: RoleChange | None = None
    """None: the role stays."""
    cut_at: int | None = None
    """The log offset at which the log must end; None: it stays as it is."""
    stage: Stage = Stage.USUAL
    """The stage of the next service."""
    is_emptied: bool = False
    """The next store begins without a record: the log of this one is of no use any more."""


LinkId = NewType("LinkId", int)
"""One live HA connection (`ports.replica_link`). Numbers are not used again in the life of a
process."""


REFUSED = "nobody listens there"
"""The reason of `on_link_failed` if the machine answers, and no process has the port."""


class OpenLink(NamedTuple):
    """Connect to the HA address `host:port`. `on_link_open` or `on_link_failed` follows, once."""

    address: str


class LinkWrite(NamedTuple):
    """Write buffers to a link, in order; they are not copied. See `LinkService.on_link_ready`."""

    link: LinkId
    buffers: Sequence[bytes | memoryview]


class ReadLink(NamedTuple):
    """Read from a link, or stop reading until told otherwise: the peer's bytes wait on the way."""

    link: LinkId
    is_on: bool


class CloseLink(NamedTuple):
    """Close a link at once: bytes that are not out yet are dropped. `on_link_closed` follows."""

    link: LinkId
    reason: str


CallId = NewType("CallId", int)
"""One call of gRPC (`ports.rpc`). Numbers are not used again in the life of a process."""


RpcConnectionId = NewType("RpcConnectionId", int)
"""One live connection of gRPC. Numbers are not used again in the life of a process."""


class CallWrite(NamedTuple):
    """Write a message to a call. A call that is over takes none: nothing happens then."""

    call: CallId
    message: bytes


class AnswerCall(NamedTuple):
    """Write the messages of a call's answer, and end it: it went well."""

    call: CallId
    messages: Sequence[bytes]


class EndCall(NamedTuple):
    """End a call, after its messages, with a status of gRPC."""

    call: CallId
    status: int = 0
    reason: str = ""


class FlushCalls(NamedTuple):
    """Write out what was answered into a connection itself (`ports.rpc.CallTaker`)."""

    connection: RpcConnectionId
    is_broken: bool = False
    """Whether its peer leaves too much unread, and is to be dropped."""


LinkEffect: TypeAlias = OpenLink | LinkWrite | ReadLink | CloseLink
CallEffect: TypeAlias = CallWrite | AnswerCall | EndCall | FlushCalls
Effect: TypeAlias = (
    Reply | Write | Dial | AnswerAsked | CloseChannel | Welcome | LinkEffect | CallEffect | Rebuild
)
Effects: TypeAlias = list[Effect]


class Service(Protocol):
    def on_open(self, channel: ChannelId, peer: Peer, now: Now) -> Effects: ...

    def on_command(self, channel: ChannelId, command: RemotingCommand, now: Now) -> Effects:
        """A request, or the response to a request that the service wrote to this channel."""

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> Effects:
        """The answer to a `Dial`."""

    def on_tick(self, now: Now) -> Effects:
        """Do what is due. Called a few milliseconds after every event, at once when disk work is
        over, and every few milliseconds otherwise (but see `PatientService`)."""

    def on_closed(self, channel: ChannelId, now: Now) -> Effects: ...


class AskedService(Service, Protocol):
    """A service that is asked on connections that it opened by `Dial`."""

    def on_asked(self, address: str, command: RemotingCommand, now: Now) -> Effects:
        """The server at an address asks. A request that is not one-way is answered by an
        `AnswerAsked`, now or later."""


class FastService(Service, Protocol):
    """A service with a fast path for the most frequent frames."""

    def take(self, channel: ChannelId, frames: FrameReader, output: ReplyBuffer, now: Now) -> bool:
        """Handle the current frame and those after it, and append their answers. True: the current
        one is left, to be decoded for `on_command`; False: there is no further frame."""

    def settle(self, now: Now, took_ms: int) -> Effects:
        """A round of reads is over: do what is done once per round (dispatch, wake-ups). Called
        before the next read, but after the answers of this round. `now` is the time of its first
        read, which was `took_ms` ago."""


class PatientService(Service, Protocol):
    """A service that knows when it has nothing to do, so that an idle process costs nothing."""

    def rest_ms(self, now: Now) -> int:
        """Asked after a tick: the time for which it need not be called, unless an event comes.
        Below 0: there is more to do, as soon as other events were handled."""


class GuardedService(Service, Protocol):
    """A service that may ask its peers who they are."""

    @property
    def is_guarded(self) -> bool:
        """Whether a channel is a stranger's until `Welcome`: what it sends is held to small limits
        until then."""


class EndingService(Service, Protocol):
    """A service that has effects or saves at its end."""

    def stop(self, now: Now) -> Effects:
        """Called once: the last effects. No command comes after it, but for a moment ticks and
        answers do, so that name servers can be told and answers that wait for the disk still go
        out."""
