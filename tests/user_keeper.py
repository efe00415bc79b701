"""A broker that keeps users and what they may do, as RocketMQ's does where that is enabled.

It has a thread of its own, so that commands that wait can ask it, and does nothing else.
"""

import asyncio
import contextlib
import threading
from collections.abc import Iterator

from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode, encode, reply_to
from aerobee.protocol.request_codes import RequestCode

_PUT_USER = (RequestCode.AUTH_CREATE_USER, RequestCode.AUTH_UPDATE_USER)
_PUT_RIGHTS = (RequestCode.AUTH_CREATE_ACL, RequestCode.AUTH_UPDATE_ACL)


class UserKeeper:
    """Bodies as they came, by name."""

    def __init__(self) -> None:
        self.users: dict[str, bytes] = {}
        self.rights: dict[str, bytes] = {}
        self.address = ""
        self._is_ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._end = asyncio.Event()
        self._thread = threading.Thread(target=self._run)

    @contextlib.contextmanager
    def running(self) -> Iterator["UserKeeper"]:
        self._thread.start()
        self._is_ready.wait()
        try:
            yield self
        finally:
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join()

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve_all())
        self._loop.close()

    async def _serve_all(self) -> None:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._is_ready.set()
        await self._end.wait()
        server.close()
        await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        frames = FrameReader()
        while data := await reader.read(1 << 16):
            frames.receive(data)
            while frames.advance():
                command = decode(frames)
                command.body = bytes(command.body)
                writer.writelines(encode(reply_to(command, 0, body=self._answer(command))))
        writer.close()

    def _answer(self, command: RemotingCommand) -> bytes:
        said = command.ext_fields
        name, subject = said.get("username", ""), said.get("subject", "")
        code = command.code
        if code in _PUT_USER:
            self.users[name] = bytes(command.body)
        elif code in _PUT_RIGHTS:
            self.rights[subject] = bytes(command.body)
        elif code == RequestCode.AUTH_DELETE_USER:
            del self.users[name]
        elif code == RequestCode.AUTH_DELETE_ACL:
            del self.rights[subject]
        elif code == RequestCode.AUTH_GET_USER:
            return self.users.get(name, b"")
        elif code == RequestCode.AUTH_GET_ACL:
            return self.rights.get(subject, b"")
        elif code == RequestCode.AUTH_LIST_USER:
            return b"[" + b",".join(self.users.values()) + b"]"
        elif code == RequestCode.AUTH_LIST_ACL:
            return b"[" + b",".join(self.rights.values()) + b"]"
        return b""
