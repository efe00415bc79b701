"""`Connections` opens connections when they are needed, one for each address, shared by all of a
client.

Tasks that need an address that is being connected to wait for the same connection. Every command
gets the client's own form here: its language, a binary header if the code fits one, a signature if
there are credentials. Pulls go as JSON: an Aerobee broker reads the next pull by comparing its text
with the last one's, which takes a fifth of the time.
"""

import asyncio
import os
import socket
import ssl

from aerobee.errors import Unreachable
from aerobee.model.access import Credentials
from aerobee.net.line import Asked, Line, open_line
from aerobee.net.tls_faults import explained_tls
from aerobee.protocol.remoting.command_header import BINARY_TYPE
from aerobee.protocol.remoting.frame import FRAME_BYTES_MAX, FrameLimits
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.remoting.signature import sign_fields
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
        """The connection to an address, if it is open; never waits."""
        line = self._open.get(address)
        return line if line is not None and line.is_open else None

    async def to(self, address: str) -> Line:
        """The connection to an address, opened if needed; Unreachable if that fails."""
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
        """The answer of the server at an address, whatever its code."""
        line = await self.to(address)
        self.dress(command)
        if line.is_full:
            await line.drained()
        return await line.ask(command, seconds)

    async def tell(self, address: str, command: RemotingCommand) -> None:
        """Send a request that wants no answer."""
        line = await self.to(address)
        self.dress(command)
        line.tell(command)

    def dress(self, command: RemotingCommand) -> None:
        """Set language and header form of a command, and sign it."""
        command.language = LANGUAGE
        if command.code <= BINARY_CODE_MAX and command.code != RequestCode.PULL_MESSAGE:
            command.serialize_type = BINARY_TYPE
        if self._credentials is not None:
            sign_fields(command.ext_fields, bytes(command.body), self._credentials)

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
    """The reason of an error in the system's words: asyncio's repeat the address, and say nothing
    of a connection that was closed by the other side.
    """
    if isinstance(error, socket.gaierror):
        return error.strerror or str(error)
    if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) and error.errno:
        return os.strerror(error.errno)
    if isinstance(error, ConnectionResetError | ConnectionAbortedError) and not str(error):
        return "the other side hung up"
    if isinstance(error, ssl.SSLError):
        return explained_tls(error)
    return str(error) or type(error).__name__


def _may_be_plain(error: Exception) -> bool:
    """Whether a connection was accepted and failed later: the server may not use TLS. One whose
    certificate is not believed does."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return False
    return isinstance(error, ssl.SSLError | ConnectionResetError | ConnectionAbortedError)
