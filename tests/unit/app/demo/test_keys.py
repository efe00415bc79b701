import asyncio
import os
import pty
import termios

from aerobee.app.demo.keys import Keys
from tests.net_kit import in_loop
from tests.process_kit import SECONDS_MAX


def test_keys_of_a_terminal_are_heard_without_enter_and_it_is_as_before_afterwards() -> None:
    async def test() -> None:
        ours, theirs = pty.openpty()
        try:
            before = termios.tcgetattr(theirs)
            heard: asyncio.Queue[str] = asyncio.Queue()
            keys = Keys(theirs, heard.put_nowait)
            keys.open()
            os.write(ours, b"kx")
            async with asyncio.timeout(SECONDS_MAX):
                assert [await heard.get(), await heard.get()] == ["k", "x"]
            assert termios.tcgetattr(theirs) != before
            keys.close()
            assert termios.tcgetattr(theirs) == before
            keys.close()
        finally:
            os.close(ours)
            os.close(theirs)

    in_loop(test)


def test_a_terminal_that_goes_away_is_no_error() -> None:
    async def test() -> None:
        ours, theirs = pty.openpty()
        keys = Keys(theirs, lambda key: None)
        keys.open()
        os.close(ours)
        await asyncio.to_thread(os.getpid)  # the loop hears of it meanwhile, or not
        keys.close()
        os.close(theirs)

    in_loop(test)


def test_where_there_is_no_terminal_nothing_is_heard() -> None:
    async def test() -> None:
        reading, writing = os.pipe()
        heard: list[str] = []
        keys = Keys(reading, heard.append)
        keys.open()
        os.write(writing, b"k")
        await asyncio.to_thread(os.getpid)  # the loop could hear of it meanwhile
        keys.close()
        assert not heard
        os.close(reading)
        os.close(writing)

    in_loop(test)
