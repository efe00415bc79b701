"""Any bytes are a plain end or not; what the scan reads, the general codec reads the same."""

from typing import Any

from aerobee.protocol.headers.transactions import EndTransactionHeader
from aerobee.protocol.remoting import frame
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.remoting.remoting_command import decode
from aerobee.protocol.send import end_transaction_header
from tests.pure import pure
from tests.wire import frame as framed

_pure_header, _pure_frame = (
    pure("aerobee.protocol.send.end_transaction_header"),
    pure("aerobee.protocol.remoting.frame"),
)


def check(data: bytes) -> None:
    """Any bytes are a plain end or not; what the scan reads, the general codec reads the same."""
    if not data:
        return
    whole = framed(data[1:], b"body", data[0] & 1)
    found = _read(end_transaction_header, frame, whole)
    assert _read(_pure_header, _pure_frame, whole) == found
    if found is None:
        return
    frames = frame.FrameReader(frame.FrameLimits())
    frames.receive(whole)
    assert frames.advance()
    command = decode(frames)
    assert (command.code, command.is_oneway, command.is_response) == (37, True, False)
    said = read_header(EndTransactionHeader, command.ext_fields)
    assert found == (
        said.producer_group.encode(),
        said.tran_state_table_offset,
        said.commit_log_offset,
        said.commit_or_rollback,
    )


def _read(module: Any, framing: Any, whole: bytes) -> tuple[bytes, int, int, int] | None:
    frames = framing.FrameReader(framing.FrameLimits())
    frames.receive(whole)
    assert frames.advance()
    header = module.EndTransactionReader()
    if not header.read(frames):
        return None
    start = header.group_start
    group = bytes(frames.view[start : start + header.group_size])
    return group, header.queue_offset, header.log_offset, header.outcome
