"""Supervision restarts a capture when a database or a broker was away for a while.

Errors that waiting cannot cure (settings, rights, a lost position) end it, and so does any error
before the first row or change was captured: the addresses may be wrong.
"""

import asyncio
import contextlib
from collections.abc import Callable

from aerobee.client.client import connect
from aerobee.errors import (
    AerobeeError,
    NoAnswer,
    PartlyDone,
    ProducerFull,
    Retriable,
    SendFailed,
    TopicNotFound,
)
from aerobee.pipeline.capture.capture import Capture, CaptureOptions
from aerobee.pipeline.capture.errors import BrokerGone, DatabaseGone
from aerobee.pipeline.capture.meter import Meter
from aerobee.pipeline.capture.position import Phase

WAIT_SECONDS_MAX = 30.0
PASSING = (
    BrokerGone,
    DatabaseGone,
    NoAnswer,
    PartlyDone,
    ProducerFull,
    Retriable,
    SendFailed,
    TopicNotFound,
)
"""What a later try may not meet again."""

Say = Callable[[str], None]


async def keep_capturing(
    target: str, options: CaptureOptions, meter: Meter, say: Say, stop: asyncio.Event
) -> None:
    """Run a capture until stopped, or until all is captured. AerobeeError: it cannot continue."""
    capture = Capture(options, meter, say)
    failures = 0
    while True:
        seen = (meter.rows_all, meter.position)
        try:
            async with connect(target) as client:
                await capture.run(client, stop)
            return
        except PASSING as error:
            has_run = meter.phase is not Phase.SNAPSHOT or meter.rows_all > 0
            if options.is_once or not has_run or stop.is_set():
                raise
            failures = failures + 1 if seen == (meter.rows_all, meter.position) else 0
            meter.restarts += 1
            wait = wait_seconds(failures)
            say(f"{_first_line(error)}; trying again in {wait:g} s")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), wait)
            if stop.is_set():
                return


def wait_seconds(failures: int) -> float:
    """Return the pause before the next start; it grows with each failure in a row."""
    return min(WAIT_SECONDS_MAX, 0.5 * 2.0 ** min(failures, 10))


def _first_line(error: AerobeeError) -> str:
    return error.message.splitlines()[0]
