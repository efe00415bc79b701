"""A server that answers a client by a script: name server and broker at one address.

It stores nothing. What it was sent is in `sends`, the topics that were asked for are in
`looked_up`. Each send is answered with the next of `codes`, then with success. While `is_holding`,
no send is answered. Requests with a code of `not_known` it does not know. Looks for a route are
refused with the next of `busy`, the texts that say how many ms to wait, while there are any.
"""

import asyncio

from aerobee.client.client import Client, connect
from aerobee.model.properties import decode_properties
from aerobee.model.route import BrokerData, QueueData, TopicRoute
from aerobee.protocol.bodies.topic_route import encode_topic_route
from aerobee.protocol.message.message_batch import decode_batch
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode, encode, reply_to
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import RETRY_AFTER, ResponseCode

_SENDS = (RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE)


class ScriptedBroker:
    def __init__(self, *, queues: int = 4) -> None:
        self.queues = queues
        self.codes: list[int] = []
        self.sends: list[RemotingCommand] = []
        self.looked_up: list[str] = []
        self.busy: list[str] = []
        self.asked: list[int] = []
        """The codes of all other requests."""
        self.is_holding = False
        self.not_known: frozenset[int] = frozenset()
        self.version = 513
        self._held: list[tuple[asyncio.StreamWriter, RemotingCommand]] = []
        self._server: asyncio.Server | None = None
        self.address = ""

    async def __aenter__(self) -> "ScriptedBroker":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    def client(self, *, namespace: str = "") -> Client:
        return connect(self.address, namespace=namespace)

    def ids(self) -> list[list[str]]:
        """The ids of each send, of a batch those of its messages."""
        found = []
        for send in self.sends:
            if send.code == RequestCode.SEND_BATCH_MESSAGE:
                messages = decode_batch(bytes(send.body))
                found.append([message.properties["UNIQ_KEY"] for message in messages])
            else:
                found.append([decode_properties(send.ext_fields["i"].encode())["UNIQ_KEY"]])
        return found

    def bodies(self) -> list[list[bytes]]:
        """The bodies of each send, of a batch those of its messages."""
        return [
            [message.body for message in decode_batch(bytes(send.body))]
            if send.code == RequestCode.SEND_BATCH_MESSAGE
            else [bytes(send.body)]
            for send in self.sends
        ]

    def are_short(self) -> list[bool]:
        """Whether each send came the short way: its moulds begin with the time."""
        return [next(iter(send.ext_fields)) == "g" for send in self.sends]

    def release(self) -> None:
        """Answer what was held."""
        self.is_holding = False
        held, self._held = self._held, []
        for writer, command in held:
            self._answer_send(writer, command)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        frames = FrameReader()
        while data := await reader.read(1 << 16):
            frames.receive(data)
            while frames.advance():
                command = decode(frames)
                command.body = bytes(command.body)
                self._take(writer, command)
        writer.close()

    def _take(self, writer: asyncio.StreamWriter, command: RemotingCommand) -> None:
        if command.code == RequestCode.GET_ROUTEINFO_BY_TOPIC:
            self.looked_up.append(command.ext_fields["topic"])
            if self.busy:
                told = {RETRY_AFTER: self.busy.pop(0)}
                reply = reply_to(command, ResponseCode.FLOW_CONTROL, ext_fields=told)
                writer.writelines(encode(reply))
                return
            broker = BrokerData("c", "broker-a", {0: self.address})
            queues = QueueData("broker-a", self.queues, self.queues, 6, 0)
            body = encode_topic_route(TopicRoute((queues,), (broker,)), is_standard=True)
            writer.writelines(encode(reply_to(command, 0, body=body)))
        elif command.code in _SENDS:
            self.sends.append(command)
            if self.is_holding:
                self._held.append((writer, command))
            else:
                self._answer_send(writer, command)
        elif not command.is_oneway:
            self.asked.append(command.code)
            reply = reply_to(command, 3 if command.code in self.not_known else 0)
            reply.version = self.version
            writer.writelines(encode(reply))

    def _answer_send(self, writer: asyncio.StreamWriter, command: RemotingCommand) -> None:
        code = self.codes.pop(0) if self.codes else 0
        said = {"msgId": "0" * 32, "queueId": command.ext_fields["e"], "queueOffset": "0"}
        reply = reply_to(command, code, ext_fields={} if code else said)
        writer.writelines(encode(reply))
