"""A line that changes on a terminal, and lines of their own elsewhere."""

import asyncio
import io
import threading

from aerobee.cli.commands.capture_progress import LOOK_SECONDS, CaptureProgress
from aerobee.pipeline.capture.meter import Meter
from aerobee.pipeline.capture.position import Phase, Position


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _shown(errors: io.StringIO, out: io.StringIO | None) -> None:
    """Until it says where it is."""

    async def run() -> None:
        meter = Meter(Phase.STREAMING, Position("b.000001", 4))
        async with CaptureProgress(meter, errors, out, "shop.*") as progress:
            progress.say("careful")
            while "b.000001" not in (out or errors).getvalue():
                await asyncio.to_thread(threading.Event().wait, LOOK_SECONDS)

    asyncio.run(run())


def test_ready_is_said_once_and_notes_have_their_own_lines() -> None:
    errors, out = io.StringIO(), io.StringIO()
    _shown(errors, out)
    assert out.getvalue() == "ready: shop.*, from b.000001:4\n"
    assert errors.getvalue() == "aerobee: careful\n"


def test_a_terminal_gets_a_line_that_is_cleared_in_the_end() -> None:
    errors = _Terminal()
    _shown(errors, None)
    assert "at b.000001:4, up to date" in errors.getvalue()
    assert errors.getvalue().endswith("\r\x1b[K")
