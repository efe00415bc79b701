import asyncio
import gc

import pytest

from aerobee.sim.event_loop import SimLoop
from aerobee.sim.network import Network
from aerobee.sim.timeline import Timeline
from tests.unit.sim.kit import PORT, Place, Side


def test_a_coroutine_waits_in_virtual_time() -> None:
    place = Place()
    seen: list[float] = []

    async def work() -> None:
        await asyncio.wait_for(pause(place.loop, 30), 1)
        seen.append(place.loop.time())

    place.spawn(work())
    place.run(100)
    assert seen == [0.03]


def test_a_time_limit_passes_in_virtual_time() -> None:
    place = Place()
    seen: list[float] = []

    async def work() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.25):
                await place.loop.create_future()
        seen.append(place.loop.time())

    place.spawn(work())
    place.run(1_000)
    assert seen == [0.25]


def test_a_cancelled_callback_is_not_called() -> None:
    place = Place()
    seen: list[str] = []
    handle = place.loop.call_later(0.01, seen.append, "never")
    place.loop.call_soon(seen.append, "soon")
    handle.cancel()
    place.run(100)
    assert seen == ["soon"]
    assert handle.cancelled()


def test_the_protocol_of_a_connection_is_made_inside_its_loop() -> None:
    place = Place()
    place.far.listen(Side, PORT)
    seen: list[object] = []

    def made() -> Side:
        seen.append(asyncio.get_running_loop())
        return Side()

    async def work() -> None:
        await place.loop.create_connection(made, "far", PORT)

    place.spawn(work())
    place.run(100)
    assert seen == [place.loop]


@pytest.mark.parametrize("way", ["callback", "task"])
def test_an_error_is_heard_of_at_once(way: str) -> None:
    place = Place()

    async def task() -> None:
        callback()

    def callback() -> None:
        raise ValueError(way)

    if way == "task":
        place.spawn(task())
    else:
        place.loop.call_soon(callback)
    place.run(0)
    assert [str(error) for error in place.failures] == [way]


def test_an_error_that_no_handler_catches_is_heard_of_too() -> None:
    class Dark(BaseException):
        pass

    place = Place()

    async def work() -> None:
        raise Dark

    place.spawn(work())
    place.run(0)
    assert [type(error) for error in place.failures] == [Dark]


def test_nothing_of_a_process_happens_after_its_end() -> None:
    place = Place()
    seen: list[str] = []

    async def work() -> None:
        seen.append("begun")
        try:
            await pause(place.loop, 10)
        finally:
            seen.append("ended")

    async def too_late() -> None:
        seen.append("too late")

    place.spawn(work())
    place.loop.call_later(0.02, seen.append, "a callback")
    place.run(5)
    place.spawn(too_late())
    place.loop.end()
    place.run(100)
    assert seen == ["begun"]
    gc.collect()
    assert place.failures == []


def test_a_task_that_is_cancelled_before_it_began_leaves_nothing_behind() -> None:
    place = Place()
    seen: list[str] = []

    async def work() -> None:
        seen.append("never")

    async def cancel() -> None:
        asyncio.get_running_loop().create_task(work()).cancel()

    place.spawn(cancel())
    place.run(100)
    gc.collect()  # a coroutine that nobody waited for would warn here
    assert seen == []
    assert place.failures == []


def test_a_sum_of_floats_costs_no_millisecond() -> None:
    loop = SimLoop(Timeline(), Network(Timeline(), Place().random).host("a").start(print), print)
    handle = loop.call_at(0.1 + 0.2, print)
    assert handle.when() == 0.3


async def pause(loop: SimLoop, ms: int) -> None:
    done = loop.create_future()
    loop.call_later(ms / 1000, done.set_result, None)
    await done
