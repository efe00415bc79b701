"""The HA stream says the same in every chunking, and a slave's log is a prefix of its master's."""

from hypothesis import given
from hypothesis import strategies as st

from aerobee.replication.primary import Primary
from tests.replication_kit import Slave, at, closed, filled_log, packets
from tests.unit.replication.test_primary import Master
from tests.unit.replication.test_transfer import reports, transfers
from tests.wire_strategies import chunkings

OFFSETS = st.integers(0, 2**63 - 1)
STREAMS = st.lists(
    st.one_of(
        st.builds(
            lambda offset, body: offset.to_bytes(8, "big") + len(body).to_bytes(4, "big") + body,
            st.integers(0, 2**40),
            st.binary(max_size=120),
        ),
        st.binary(max_size=20),
    ),
    max_size=6,
).map(b"".join)


@given(st.data(), st.binary(max_size=100))
def test_reports_are_the_same_in_every_chunking(data: st.DataObject, stream: bytes) -> None:
    assert reports(data.draw(chunkings(stream))) == reports([stream])


@given(st.data(), STREAMS)
def test_packets_are_the_same_in_every_chunking(data: st.DataObject, stream: bytes) -> None:
    assert transfers(data.draw(chunkings(stream)), 100) == transfers([stream], 100)


@given(st.data(), st.integers(0, 60), st.integers(1, 300))
def test_a_slave_is_a_prefix_after_every_chunk_of_any_packets(
    data: st.DataObject, records: int, packet_bytes: int
) -> None:
    master = filled_log(records)
    slave = Slave()
    slave.connect()
    for chunk in data.draw(chunkings(packets(master, 0, master.end_offset, packet_bytes))):
        slave.receive(1, chunk)
        end = slave.log.end_offset
        assert slave.log.content(0, end) == master.content(0, end)
    assert slave.log.end_offset == master.end_offset


@given(st.data(), st.integers(1, 60), st.integers(0, 10_000), st.integers(0, 255))
def test_a_slave_is_a_prefix_of_its_master_whatever_byte_of_the_stream_is_wrong(
    data: st.DataObject, records: int, place: int, byte: int
) -> None:
    master = filled_log(records)
    stream = bytearray(packets(master, 0, master.end_offset))
    stream[place % len(stream)] = byte
    slave = Slave()
    slave.connect()
    for chunk in data.draw(chunkings(bytes(stream))):
        slave.receive(1, chunk)
    end = slave.log.end_offset
    # A filler's bytes mean nothing and are not checked by this log.
    checked = min(end, 900)
    assert slave.log.content(0, checked) == master.content(0, checked)


@given(st.lists(st.one_of(OFFSETS, st.integers(0, 2_000), st.integers(-5, -1)), max_size=12))
def test_whatever_a_rogue_reports_only_what_it_was_sent_is_believed(offsets: list[int]) -> None:
    master = Master(filled_log(60))
    primary: Primary = master.primary
    end = master.log.end_offset
    master.open()
    before = 0
    for offset in offsets:
        effects = master.report(offset)
        statuses = primary.in_sync.statuses(end, at(0))
        if closed(effects) or not statuses:
            assert statuses == []
            return
        (status,) = statuses
        assert before <= status.ack_offset <= end
        before = status.ack_offset
