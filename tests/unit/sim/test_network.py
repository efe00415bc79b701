import asyncio

import pytest

from tests.unit.sim.kit import PORT, Place, Side


def test_nobody_who_listens_is_a_refusal() -> None:
    place = Place()
    seen: list[str] = []

    async def connect() -> None:
        with pytest.raises(ConnectionRefusedError):
            await place.near.connect(Side, "far", PORT)
        seen.append("refused")

    place.spawn(connect())
    place.run(100)
    assert seen == ["refused"]


@pytest.mark.parametrize("way", [("near", "far"), ("far", "near")])
def test_an_attempt_over_a_cut_link_goes_on_until_it_is_healed(way: tuple[str, str]) -> None:
    place = Place()
    place.far.listen(Side, PORT)
    place.network.cut(*way)
    seen: list[int] = []

    async def connect() -> None:
        await place.near.connect(Side, "far", PORT)
        seen.append(place.timeline.now_ms)

    place.spawn(connect())
    place.run(3_500)
    assert seen == []
    place.network.heal(*way)
    place.run(1_500)
    assert len(seen) == 1


def test_a_connection_that_is_there_too_late_is_given_up_on_both_sides() -> None:
    place = Place()
    accepted = Side()
    place.far.listen(lambda: accepted, PORT)
    link = place.network.link("far", "near")
    link.delay_ms = lambda: 500  # type: ignore[method-assign]

    async def connect() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await place.near.connect(Side, "far", PORT)

    place.spawn(connect())
    place.run(2_000)
    assert [type(error) for error in accepted.lost] == [ConnectionResetError]


def test_a_port_is_free_again_when_its_process_is_gone() -> None:
    place = Place()
    place.far.listen(Side, PORT)
    place.far.kill()
    place.start("far").listen(Side, PORT)
    place.network.host("far").cut_power()
    place.network.host("far").boot()
    place.start("far").listen(Side, PORT)


def test_when_all_is_healed_no_link_is_cut() -> None:
    place = Place()
    near, far = place.connect()
    place.network.cut("near", "far")
    place.network.cut("far", "near")
    near.transport.write(b"hello")
    place.network.heal_all()
    place.run(100)
    assert far.data == b"hello"
    assert len(place.network.sides()) == 2


def test_a_story_that_is_over_goes_no_further() -> None:
    place = Place()
    near, far = place.connect()
    near.transport.write(b"hello")
    place.network.end()
    place.run(100)
    assert far.data == b""


def test_a_slow_link_lets_so_much_through_in_a_second_and_keeps_the_order() -> None:
    place = Place()
    near, far = place.connect()
    place.network.slow("near", "far", bytes_per_second=1_000)
    near.transport.write(b"a" * 2_000)
    near.transport.write(b"b" * 1_000)
    place.run(2_500)
    assert far.data == b"a" * 2_000
    place.network.heal("near", "far")
    near.transport.write(b"c")
    place.run(1_000)
    assert far.data == b"a" * 2_000 + b"b" * 1_000 + b"c"
