"""Connections of one client: one for each address, opened when needed, shared by all that use it.

Whoever asks an address that is being connected to waits for the same connection. Every command
leaves here in the client's own form: its language, a binary header where the code fits one, signed
where there are credentials. Pulls go as JSON: a broker of ours understands the next one by
comparing its text with the last one's, which takes a fifth of the time.
"""

import asyncio
import os
import socket
import ssl

from aerobee.client.core.target import Credentials
from aerobee.errors import Unreachable
from aerobee.net.line import Asked, Line, open_line
from aerobee.protocol.remoting.command_header import BINARY_TYPE
from aerobee.protocol.remoting.frame import FRAME_BYTES_MAX, FrameLimits
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.remoting.signature import (
    ACCESS_KEY,
    SECURITY_TOKEN,
    SIGNATURE,
    sign,
    signed_text,
)
from aerobee.protocol.request_codes import RequestCode

LANGUAGE = "PYTHON"
BINARY_CODE_MAX = 32767  # pop requests have greater codes: they go as JSON


class Connections:
    """The connections of one client, on one loop."""

    def __init__(
        self,
        asked: Asked,
        *,
        credentials: Credentials | None = None,
        tls: ssl.SSLContext | None = None,
        connect_timeout: float = 3.0,
    ) -> None:
        self._asked = asked
        self._credentials = credentials
        self._tls = tls
        self._connect_timeout = connect_timeout
        # What a broker answers may be as large as a frame can be.
        self._limits = FrameLimits(FRAME_BYTES_MAX)
        self._open: dict[str, Line] = {}
        self._opening: dict[str, asyncio.Task[Line]] = {}

    def find(self, address: str) -> Line | None:
        """The line to an address, if it is open: for those who cannot wait."""
        line = self._open.get(address)
        return line if line is not None and line.is_open else None

    async def to(self, address: str) -> Line:
        """A line to an address; Unreachable if there is none to be had."""
        line = self.find(address)
        if line is not None:
            return line
        opening = self._opening.get(address)
        if opening is None:
            opening = asyncio.get_running_loop().create_task(self._connect(address))
            self._opening[address] = opening
            opening.add_done_callback(lambda opened: self._opened(address, opened))
        return await asyncio.shield(opening)  # one who gives up takes nobody else with him

    async def ask(self, address: str, command: RemotingCommand, seconds: float) -> RemotingCommand:
        """The answer of whoever is at an address, whatever its code."""
        line = await self.to(address)
        self.dress(command)
        if line.is_full:
            await line.drained()
        return await line.ask(command, seconds)

    async def tell(self, address: str, command: RemotingCommand) -> None:
        """Send what wants no answer."""
        line = await self.to(address)
        self.dress(command)
        line.tell(command)

    def dress(self, command: RemotingCommand) -> None:
        """Have a command say who sends it."""
        command.language = LANGUAGE
        if command.code <= BINARY_CODE_MAX and command.code != RequestCode.PULL_MESSAGE:
            command.serialize_type = BINARY_TYPE
        if self._credentials is not None:
            fields = command.ext_fields
            fields[ACCESS_KEY] = self._credentials.access_key
            if self._credentials.security_token:
                fields[SECURITY_TOKEN] = self._credentials.security_token
            text = signed_text(fields, bytes(command.body))
            fields[SIGNATURE] = sign(text, self._credentials.secret_key)

    async def close(self) -> None:
        for opening in list(self._opening.values()):
            opening.cancel()
        await asyncio.gather(*self._opening.values(), return_exceptions=True)
        for line in self._open.values():
            line.close()

    def _opened(self, address: str, opened: "asyncio.Task[Line]") -> None:
        self._opening.pop(address, None)
        if not opened.cancelled():
            opened.exception()  # whoever waits hears of it; nobody else needs to

    @property
    def _kind(self) -> str:
        return "connection" if self._tls is None else "TLS connection"

    def _hint(self, address: str) -> str:
        if self._tls is None:
            return ""
        return f"does {address} speak TLS? If it does not, leave tls out: tls=False, or no ?tls=on"

    async def _connect(self, address: str) -> Line:
        try:
            async with asyncio.timeout(self._connect_timeout):
                line = await open_line(address, self._limits, self._asked, tls=self._tls)
        except TimeoutError:
            raise Unreachable(
                f"no {self._kind} to {address} within {self._connect_timeout:g} s",
                address=address,
                hint=self._hint(address),
            ) from None
        except (OSError, ValueError) as error:
            raise Unreachable(
                f"no {self._kind} to {address}: {_reason(error)}",
                address=address,
                hint=self._hint(address) if _may_be_plain(error) else "",
            ) from None
        self._open[address] = line
        return line


def _reason(error: Exception) -> str:
    """What an error says, in the system's words: asyncio's repeat the address, and say nothing of
    one who hung up."""
    if isinstance(error, socket.gaierror):
        return error.strerror or str(error)
    if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) and error.errno:
        return os.strerror(error.errno)
    if isinstance(error, ConnectionResetError | ConnectionAbortedError) and not str(error):
        return "the other side hung up"
    return str(error) or type(error).__name__


def _may_be_plain(error: Exception) -> bool:
    """Whether whoever is there took the connection, and then did not get on with it."""
    return isinstance(error, ssl.SSLError | ConnectionResetError | ConnectionAbortedError)
