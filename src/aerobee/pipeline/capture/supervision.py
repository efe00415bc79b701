"""A capture that goes on when a database or a broker was away for a while.

What cannot get better by waiting (settings, rights, a lost position) ends it, and so does whatever
fails before it ran at all: then nobody knows yet whether the addresses are right.
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
    """Until told to stop, or until all is captured. AerobeeError: it cannot go on."""
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
    """Longer and longer while nothing gets better."""
    return min(WAIT_SECONDS_MAX, 0.5 * 2.0 ** min(failures, 10))


def _first_line(error: AerobeeError) -> str:
    return error.message.splitlines()[0]
