"""LogRepair fetches damaged records of a store from replicas of its broker, at a start.

    the store reports a corrupt record ─▶ name servers say who has the same broker name ─▶
    READ_LOG of one after the other ─▶ checked and put in place (`record_repair`) ─▶ open again

A replica whose log is another one changes nothing: only records that are sound in that very place
are taken. Without a replica the damage is reported as it is.
"""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from ssl import SSLContext

from aerobee.errors import AerobeeError, CorruptRecord, RawRecordRefused
from aerobee.net.line import Line, open_line
from aerobee.ports.disk import Disk
from aerobee.protocol.bodies.topic_route import decode_member_group
from aerobee.protocol.headers.log_reading import ReadLogHeader
from aerobee.protocol.headers.replication import MemberGroupHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.remoting.signature import sign_fields
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.config import BrokerIdentity
from aerobee.storage.recover.record_repair import repair_records

_log = logging.getLogger(__name__)

ANSWER_SECONDS_MAX = 5.0
CHUNK_BYTES = 1 << 20
RECORDS_MAX = 256
"""Neighbouring damaged records that are replaced together."""


class LogRepair:
    def __init__(
        self,
        identity: BrokerIdentity,
        nameservers: Sequence[str],
        tls: SSLContext | None = None,
    ) -> None:
        """`tls` is the context of connections to others; None: they are plain."""
        self._identity = identity
        self._nameservers = nameservers
        self._tls = tls

    async def repair(self, disk: Disk, root: str, damage: CorruptRecord) -> bool:
        """Repair the damage of a closed store from any replica; whether that was done."""
        for address in await self._replicas():
            # Another replica may have it, whatever is wrong with this one.
            with contextlib.suppress(OSError, TimeoutError, AerobeeError):
                async with asyncio.timeout(ANSWER_SECONDS_MAX):
                    line = await open_line(address, tls=self._tls)
                try:
                    count = await self._repair_from(line, disk, root, damage)
                finally:
                    line.close()
                if count:
                    _log.warning("%s: repaired, %d bytes from %s", damage, count, address)
                    return True
        return False

    async def _replicas(self) -> list[str]:
        """The addresses of the brokers with the same name, this one excepted."""
        who = self._identity
        header = write_header(MemberGroupHeader(who.cluster, who.name))
        found: dict[str, None] = {}
        for nameserver in self._nameservers:
            with contextlib.suppress(OSError, TimeoutError, AerobeeError):
                async with asyncio.timeout(ANSWER_SECONDS_MAX):
                    line = await open_line(nameserver, tls=self._tls)
                try:
                    answer = await self._asked(line, RequestCode.GET_BROKER_MEMBER_GROUP, header)
                finally:
                    line.close()
                if answer.code == ResponseCode.SUCCESS:
                    found |= dict.fromkeys(
                        decode_member_group(bytes(answer.body)).addresses.values()
                    )
        found.pop(who.address, None)
        return list(found)

    async def _repair_from(self, line: Line, disk: Disk, root: str, damage: CorruptRecord) -> int:
        """Replace the damaged record, and as many behind it as are damaged, too; the number of
        bytes. 0: this replica's bytes do not fit."""
        data = bytearray()
        end = 0
        for _ in range(RECORDS_MAX):
            end = await self._next_end(line, damage.log_offset, data, end)
            if end == 0:
                return 0
            try:
                await asyncio.to_thread(repair_records, disk, root, damage, memoryview(data)[:end])
            except RawRecordRefused:
                continue  # the record behind it may be damaged, too
            return end
        return 0

    async def _next_end(self, line: Line, offset: int, data: bytearray, end: int) -> int:
        """Where the record ends that begins at `end`, all of it read; 0: there is none."""
        size = 4
        while len(data) < end + size:
            header = write_header(ReadLogHeader(offset + len(data), CHUNK_BYTES))
            answer = await self._asked(line, RequestCode.READ_LOG, header)
            if answer.code != ResponseCode.SUCCESS or not answer.body:
                return 0
            data += answer.body
            size = max(4, int.from_bytes(data[end : end + 4], "big"))
        return end + max(4, int.from_bytes(data[end : end + 4], "big"))

    async def _asked(
        self, line: Line, code: RequestCode, header: dict[str, str]
    ) -> RemotingCommand:
        inner = self._identity.access.inner
        if inner is not None:
            sign_fields(header, b"", inner)
        return await line.ask(RemotingCommand(code, ext_fields=header), ANSWER_SECONDS_MAX)
