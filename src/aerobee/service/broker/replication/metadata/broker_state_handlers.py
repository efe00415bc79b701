"""COPY_BROKER_STATE: tells a slave the state of this broker that RocketMQ has no request for.

Without a name: the versions of topics and groups, and the start of the process, which a slave asks
for often. With the name of a state file: the file as it is on the disk, in pieces of 1 MiB. So a
slave gets only saved state, which no crash of this broker takes back. A file that is larger than a
start reads is refused. Users are in a file, too, but are sent under another seal.
"""

import zlib
from collections.abc import Callable, Mapping
from types import MappingProxyType

from aerobee.ports.disk import Disk
from aerobee.ports.disk_worker import DiskWorker, Lane
from aerobee.protocol.bodies.broker_state import BrokerVersions, encode_broker_versions
from aerobee.protocol.headers.replicating import CopiedStateHeader, CopyStateHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.replication.metadata.state_files import (
    PIECE_BYTES_MAX,
    STATE_FILES,
    state_path,
)
from aerobee.service.broker.request_table import Lane as RequestLane
from aerobee.service.broker.request_table import Row, row
from aerobee.service.file_copy import STATE_BYTES_MAX
from aerobee.service.request import Answer, Request

NO_FILES: Mapping[str, Callable[[], bytes]] = MappingProxyType({})
READS_MAX = 8
"""Requests that wait for the disk. A slave has one."""


class BrokerStateHandlers:
    def __init__(
        self,
        disk: Disk,
        worker: DiskWorker,
        root: str,
        versions: Callable[[], BrokerVersions],
        made: Mapping[str, Callable[[], bytes]] = NO_FILES,
        *,
        bytes_max: int = STATE_BYTES_MAX,
        piece_bytes: int = PIECE_BYTES_MAX,
    ) -> None:
        """`root` is the store directory. `made` are further files, which are not sent as they are
        on the disk."""
        self._disk = disk
        self._worker = worker
        self._root = root
        self._made = made
        self._versions = versions
        self._bytes_max = bytes_max
        self._piece_bytes = piece_bytes
        self._reads = 0

    def rows(self) -> list[Row]:
        return [row(RequestCode.COPY_BROKER_STATE, CopyStateHeader, self._copy, RequestLane.ADMIN)]

    def _copy(self, request: Request, header: CopyStateHeader) -> Answer | None:
        if not header.name:
            return Answer(body=encode_broker_versions(self._versions()))
        make = self._made.get(header.name)
        if make is not None and header.position >= 0:
            content = make()
            return self._piece(header, content, zlib.crc32(content))
        if header.name not in STATE_FILES or header.position < 0:
            return Answer(
                ResponseCode.INVALID_PARAMETER,
                f"name is {header.name[:100]!r}, not one of {', '.join(sorted(STATE_FILES))}; "
                f"position is {header.position}, not 0 or more",
            )
        if self._reads >= READS_MAX:
            return Answer(
                ResponseCode.SYSTEM_BUSY, f"{self._reads} state files are being read: try later"
            )
        self._reads += 1
        path = state_path(self._root, header.name)
        self._worker.submit(
            Lane.BACKGROUND,
            _Read(self._disk, path, lambda read: self._answer(request, header, read)),
        )
        return None

    def _answer(self, request: Request, header: CopyStateHeader, read: "_Read") -> None:
        self._reads -= 1
        if read.error is not None:
            request.answer(
                Answer(ResponseCode.SYSTEM_ERROR, f"{header.name} cannot be read: {read.error}")
            )
            return
        request.answer(self._piece(header, read.content, read.crc))

    def _piece(self, header: CopyStateHeader, content: bytes, crc: int) -> Answer:
        if len(content) > self._bytes_max:
            return Answer(
                ResponseCode.SYSTEM_ERROR,
                f"{header.name} has {len(content)} bytes, at most {self._bytes_max} are copied",
            )
        piece = b""
        if header.known_crc != crc:
            piece = content[header.position : header.position + self._piece_bytes]
        return Answer(fields=write_header(CopiedStateHeader(len(content), crc)), body=piece)


class _Read:
    """Disk job: the content of a file, nothing if there is none, and its CRC-32."""

    def __init__(self, disk: Disk, path: str, then: Callable[["_Read"], None]) -> None:
        self._disk = disk
        self._path = path
        self._then = then
        self.content = b""
        self.crc = 0
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.content = self._disk.read(self._path)
        except FileNotFoundError:
            return
        self.crc = zlib.crc32(self.content)

    def done(self, error: BaseException | None) -> None:
        self.error = error
        self._then(self)
