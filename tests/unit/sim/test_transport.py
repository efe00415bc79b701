import pytest

from tests.unit.sim.kit import Place


def test_bytes_arrive_in_order_in_any_chunking() -> None:
    chunkings = set()
    for seed in range(30):
        place = Place(seed)
        near, far = place.connect()
        for number in range(20):
            near.transport.write(b"%d," % number)
        near.transport.writelines([b"a", b"b"])
        place.run(1_000)
        assert far.data == b"".join(b"%d," % number for number in range(20)) + b"ab"
        chunkings.add(tuple(map(len, far.chunks)))
    assert len(chunkings) > 10


def test_each_side_knows_where_the_other_is() -> None:
    near, far = Place().connect()
    assert near.transport.get_extra_info("peername") == ("far", 7)
    assert far.transport.get_extra_info("peername")[0] == "near"


def test_a_side_that_closes_is_not_read_and_what_it_wrote_arrives() -> None:
    place = Place()
    near, far = place.connect()
    near.transport.write(b"last words")
    near.transport.close()
    far.transport.write(b"too late")
    place.run(100)
    assert far.data == b"last words"
    assert (near.data, near.lost, far.lost) == (b"", [None], [None])


def test_an_abort_is_a_reset_to_the_other_side() -> None:
    place = Place()
    near, far = place.connect()
    near.transport.abort()
    place.run(100)
    assert near.lost == [None]
    assert [type(error) for error in far.lost] == [ConnectionResetError]


def test_a_link_that_is_cut_holds_bytes_until_it_is_healed() -> None:
    place = Place()
    near, far = place.connect()
    place.network.cut("near", "far")
    near.transport.write(b"one")
    far.transport.write(b"the other way is open")
    place.run(5_000)
    assert (far.data, near.data) == (b"", b"the other way is open")
    place.network.heal("near", "far")
    place.run(100)
    assert far.data == b"one"


@pytest.mark.parametrize("seed", range(6))
def test_a_killed_process_is_heard_of(seed: int) -> None:
    place = Place(seed)
    near, far = place.connect()
    far.transport.write(b"last words")
    place.far.kill()
    place.run(100)
    assert len(near.lost) == 1
    assert far.lost == []


def test_a_machine_without_power_is_noticed_only_by_writing_to_it_when_it_is_back() -> None:
    place = Place()
    near, _ = place.connect()
    place.far.host.cut_power()
    near.transport.write(b"anybody?")
    place.run(60_000)
    assert near.lost == []
    place.far.host.boot()
    place.run(100)
    assert [type(error) for error in near.lost] == [ConnectionResetError]


def test_a_reset_behind_a_cut_is_lost_and_the_next_write_finds_out() -> None:
    place = Place()
    near, far = place.connect()
    place.network.cut("far", "near")
    far.transport.abort()
    place.run(100)
    place.network.heal("far", "near")
    place.run(60_000)
    assert near.lost == []
    near.transport.write(b"anybody?")
    place.run(100)
    assert [type(error) for error in near.lost] == [ConnectionResetError]


def test_both_sides_hear_of_a_connection_that_breaks() -> None:
    place = Place()
    near, far = place.connect()
    place.near.sides[0].reset()
    place.run(100)
    assert [type(error) for error in near.lost + far.lost] == [ConnectionResetError] * 2


def test_a_side_that_does_not_read_holds_up_the_other() -> None:
    place = Place(buffer_bytes=1_000)
    near, far = place.connect()
    far.transport.pause_reading()
    near.transport.set_write_buffer_limits()
    near.transport.write(b"x" * 1_000)
    assert near.pauses == []
    near.transport.write(b"x")
    assert near.pauses == [True]
    assert near.transport.get_write_buffer_size() == 1_001
    place.run(100)
    assert far.data == b""
    far.transport.resume_reading()
    place.run(100)
    assert (len(far.data), near.pauses) == (1_001, [True, False])


def test_a_close_waits_for_a_side_that_does_not_read() -> None:
    place = Place()
    near, far = place.connect()
    far.transport.pause_reading()
    near.transport.write(b"x" * 10_000)
    near.transport.close()
    place.run(100)
    assert (near.transport.is_closing(), near.lost) == (True, [])
    far.transport.resume_reading()
    place.run(100)
    assert (len(far.data), near.lost, far.lost) == (10_000, [None], [None])


def test_a_slow_link_carries_so_many_bytes_a_second_over_all_connections() -> None:
    place = Place()
    near, far = place.connect()
    other_near, other_far = place.connect()
    place.network.link("near", "far").bytes_per_second = 100_000
    near.transport.write(bytes(100_000))
    other_near.transport.write(bytes(100_000))
    far.transport.write(b"the other way is fast")
    place.run(1_000)
    assert 90_000 <= len(far.data) + len(other_far.data) <= 100_000
    assert len(far.chunks) > 3
    assert near.data == b"the other way is fast"
    place.run(1_100)
    assert (len(far.data), len(other_far.data)) == (100_000, 100_000)


def test_a_link_that_is_fast_again_keeps_the_order_of_bytes() -> None:
    place = Place()
    near, far = place.connect()
    link = place.network.link("near", "far")
    link.bytes_per_second = 10_000
    near.transport.write(b"a" * 10_000)
    place.run(200)
    link.bytes_per_second = 0
    near.transport.write(b"b" * 10)
    place.run(2_000)
    assert far.data == b"a" * 10_000 + b"b" * 10
