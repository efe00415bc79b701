"""Copies a state file from a master by COPY_BROKER_STATE, piece by piece.

Every piece says the size and the CRC-32 of the whole file. If they change on the way, the file was
replaced, and the copy begins again.
"""

import zlib

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.headers.replicating import NO_CRC, CopiedStateHeader, CopyStateHeader
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.question import Question, require

STATE_BYTES_MAX = 64 << 20
"""Of one file: as much as is read at a start."""
STARTS_MAX = 5
"""A file that changes again and again is left to the next round."""


def copy_file(name: str, known_crc: int = NO_CRC) -> Question[bytes | None]:
    """The content, empty if there is no file; None: it is still the one with this CRC-32."""
    for _ in range(STARTS_MAX):
        whole: CopiedStateHeader | None = None
        content = bytearray()
        while whole is None or len(content) < whole.size:
            header = CopyStateHeader(name, len(content), known_crc)
            answer = yield from require(RequestCode.COPY_BROKER_STATE, header)
            said = read_header(CopiedStateHeader, answer.ext_fields)
            if said.crc == known_crc:
                return None
            if not 0 <= said.size <= STATE_BYTES_MAX:
                raise RemoteProtocolError(f"{name} has {said.size} bytes")
            if whole is not None and said != whole:
                break
            if len(answer.body) == 0 and said.size > 0:
                raise RemoteProtocolError(f"a piece of {name} is empty")
            whole = said
            content += answer.body
        else:
            if len(content) != whole.size or zlib.crc32(content) != whole.crc:
                raise RemoteProtocolError(f"{name} does not match its checksum")
            return bytes(content)
    raise RemoteProtocolError(f"{name} changes faster than it is copied")
