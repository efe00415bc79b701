"""A plain blocking client, for tests of real processes on real sockets."""

import itertools
import socket
import ssl
from collections.abc import Mapping

from aerobee.model.access import Credentials
from aerobee.protocol.remoting.frame import FRAME_BYTES_MAX, FrameLimits, FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode, encode
from aerobee.protocol.remoting.signature import sign_fields
from tests.process_kit import SECONDS_MAX


class WireClient:
    def __init__(
        self,
        port: int,
        host: str = "127.0.0.1",
        seconds_max: float = SECONDS_MAX,
        *,
        login: Credentials | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`login` signs every request; `tls` is how the connection is encrypted, if it is."""
        self._socket = socket.create_connection((host, port), timeout=seconds_max)
        if tls is not None:
            self._socket = tls.wrap_socket(self._socket, server_hostname=host)
        self._login = login
        # An answer may be as large as a frame can be.
        self._frames = FrameReader(FrameLimits(FRAME_BYTES_MAX))
        self._opaques = itertools.count(1)

    def __enter__(self) -> "WireClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(
        self, code: int, fields: Mapping[str, str] | None = None, body: bytes = b""
    ) -> RemotingCommand:
        opaque = self.tell(code, fields, body)
        answer = self.read()
        assert answer is not None, "the connection was closed"
        assert answer.is_response
        assert answer.opaque == opaque
        return answer

    def tell(self, code: int, fields: Mapping[str, str] | None = None, body: bytes = b"") -> int:
        """Send a request whose answer is read later; its opaque."""
        said = dict(fields or {})
        if self._login is not None:
            sign_fields(said, body, self._login)
        command = RemotingCommand(code, opaque=next(self._opaques), ext_fields=said, body=body)
        self.write(b"".join(encode(command)))
        return command.opaque

    def write(self, data: bytes) -> None:
        self._socket.sendall(data)

    def read(self) -> RemotingCommand | None:
        """The next command; None once the other side has closed."""
        while not self._frames.advance():
            data = self._socket.recv(65536)
            if not data:
                return None
            self._frames.receive(data)
        return decode(self._frames)

    def close(self) -> None:
        self._socket.close()
