"""A master or slave that answers pulls by a script, registered with a real name server."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from aerobee.client.client import Client
from aerobee.model.topic import DataVersion, TopicConfig
from aerobee.protocol.bodies.register_broker import RegisterBroker, encode_register_broker
from aerobee.protocol.headers.pulling import COMMIT_OFFSET, SUSPEND
from aerobee.protocol.headers.registration import RegisterBrokerHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode, encode, reply_to
from aerobee.protocol.request_codes import RequestCode
from tests.consume_kit import Wire


class PullServer:
    """Answers each pull as it is set, everything else with success. While `is_hanging`, nothing is
    answered."""

    def __init__(self) -> None:
        self.address = ""
        self.code = 19
        self.next_offset: int | None = None
        """None: the one that is asked for."""
        self.suggested = 0
        self.is_hanging = False
        self.pulls: list[tuple[bool, bool]] = []
        """Of each pull, whether it may be held and whether it commits."""
        self.told: list[int] = []
        """The codes of all other requests."""

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["PullServer"]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()

    async def register(
        self, client: Client, name_server: str, broker_id: int, *, is_acting: bool = False
    ) -> None:
        """As a broker-a with one queue of `orders`, as long as the client lives. `is_acting`: a
        slave of its name may act as the master."""
        topics = {name: TopicConfig(name, 1, 1) for name in ("orders", "other")}
        header = RegisterBrokerHeader(
            "broker-a",
            self.address,
            "DefaultCluster",
            broker_id,
            self.address,
            enable_acting_master=is_acting,
        )
        answer = await Wire(client).ask(
            name_server,
            RequestCode.REGISTER_BROKER,
            dict(write_header(header)),
            encode_register_broker(RegisterBroker(topics, DataVersion(0, 0, 1))),
        )
        assert answer.code == 0, answer.remark

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        frames = FrameReader()
        while data := await reader.read(1 << 16):
            frames.receive(data)
            while frames.advance():
                command = decode(frames)
                if command.code == RequestCode.PULL_MESSAGE:
                    flag = int(command.ext_fields["sysFlag"])
                    self.pulls.append((bool(flag & SUSPEND), bool(flag & COMMIT_OFFSET)))
                else:
                    self.told.append(command.code)
                if not self.is_hanging and not command.is_oneway:
                    writer.writelines(encode(self._answer(command)))
        writer.close()

    def _answer(self, command: RemotingCommand) -> RemotingCommand:
        if command.code != RequestCode.PULL_MESSAGE:
            return reply_to(command, 0)
        asked = int(command.ext_fields["queueOffset"])
        following = asked if self.next_offset is None else self.next_offset
        said = {
            "suggestWhichBrokerId": str(self.suggested),
            "nextBeginOffset": str(following),
            "minOffset": "0",
            "maxOffset": "9",
        }
        return reply_to(command, self.code, ext_fields=said)
