"""Any bytes of a slave or a master leave the other side's log and counts sound, or end the link.

The first bytes choose the chunks and where the slave is; the rest is what the peer says. A master
is told it as reports, as they are and as small steps around true offsets. A slave is sent packets
of its master's log with these bytes laid over them.
"""

import struct

from aerobee.model.broker_role import BrokerRole
from aerobee.ports.service import CloseLink, Effects, LinkId, LinkWrite
from aerobee.replication.config import ReplicationConfig
from aerobee.replication.in_sync import InSync
from aerobee.replication.primary import Primary
from aerobee.replication.transfer import HEADER_BYTES, REPORT_BYTES, encode_report
from fuzz.fuzz_transfer import cut
from tests.replication_kit import MemoryLog, Slave, at, filled_log, packets, peer, written

LINK = LinkId(1)
RECORDS = 24


def check(data: bytes) -> None:
    """Any bytes of a slave or a master leave the other side's log and counts sound."""
    if len(data) < 4:
        return
    said = data[3:]
    for reports in (said, _steps(said)):
        _check_master(cut(reports, data[0]))
    _check_slave(said, data[1], data[2])


# A master that hears reports.


def _steps(said: bytes) -> bytes:
    """A report for each byte: so far from the one before."""
    offset, reports = said[0] * 4, []
    for byte in said[:60]:
        offset = max(-1, offset + (byte - 64) * 3)
        reports.append(encode_report(offset))
    return b"".join(reports)


def _check_master(chunks: list[bytes]) -> None:
    config = ReplicationConfig(role=BrokerRole.SYNC_MASTER, in_sync_replicas=2)
    log = filled_log(RECORDS)
    end = log.end_offset
    in_sync = InSync(config)
    primary = Primary(log, in_sync, config, log.file_bytes)
    primary.on_link_open(LINK, peer(), False, at(0))
    (copy,) = in_sync._copies.values()
    acknowledged, is_open = copy.ack_offset, True
    for chunk in chunks:
        effects = primary.on_link_bytes(LINK, chunk, at(1))
        assert is_open or not effects
        is_open = is_open and not _is_closed(effects)
        assert acknowledged <= copy.ack_offset <= max(copy.sent_offset, -1) <= end
        acknowledged = copy.ack_offset
        copied = in_sync.copied_offset(end)
        assert copied is not None
        assert copied <= max(acknowledged, 0)
        assert in_sync.count(end) == 1 + (is_open and copy.has_reported)
    assert log.end_offset == end


def _is_closed(effects: Effects) -> bool:
    return any(isinstance(effect, CloseLink) for effect in effects)


# A slave that is sent packets.


def _check_slave(said: bytes, start_share: int, chunk_seed: int) -> None:
    master = filled_log(RECORDS)
    begins = [0]
    while begins[-1] < master.end_offset:
        begins.append(
            begins[-1] + int.from_bytes(master.content(begins[-1], begins[-1] + 4), "big")
        )
    start = begins[start_share % len(begins)]
    log = MemoryLog()
    log.append_raw(0, memoryview(master.content(0, start)))
    slave = Slave(log)
    slave.connect()
    stream = bytearray(packets(master, start, master.end_offset))
    for number in range(0, len(said) - 2, 3):
        place = int.from_bytes(said[number : number + 2], "big")
        if place < len(stream):
            stream[place] ^= said[number + 2]
    reach = _reach(bytes(stream), start)
    is_open, reported = True, start
    for chunk in cut(bytes(stream), chunk_seed):
        before = log.end_offset
        effects = slave.receive(1, chunk)
        assert is_open or log.end_offset == before
        assert log.end_offset <= reach
        is_open = is_open and not _is_closed(effects)
        reports = written(effects)
        for position in range(0, len(reports), REPORT_BYTES):
            offset = int.from_bytes(reports[position : position + REPORT_BYTES], "big")
            assert reported < offset <= log.end_offset
            reported = offset
        _check_records(log)
        incoming = slave.replica._incoming
        assert incoming is None or len(incoming._head) < log.file_bytes
        assert len(slave.replica._reader._head) < HEADER_BYTES
        assert not any(
            len(buffer) > REPORT_BYTES
            for effect in effects
            if isinstance(effect, LinkWrite)
            for buffer in effect.buffers
        )


def _reach(stream: bytes, start: int) -> int:
    """How far the log gets by packets that follow on each other. An empty one begins anywhere."""
    offset = start or None
    position = 0
    while len(stream) - position >= HEADER_BYTES:
        said, size = struct.unpack_from(">qi", stream, position)
        if offset is None and size > 0:
            offset = said
        if size < 0 or offset not in (None, said):
            break
        position += HEADER_BYTES + size
        offset = None if offset is None else offset + size
    return max(0, offset or 0)


def _check_records(log: MemoryLog) -> None:
    """The log is made of whole records, each sound."""
    position = log.min_offset
    while position < log.end_offset:
        size = log._whole_size(memoryview(log.content(position, log.end_offset)))
        assert size > 0
        position += size
