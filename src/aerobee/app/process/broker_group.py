"""BrokerGroup runs masters and their slaves as one part of a process.

    start   one after another, masters first; then it waits until masters take sends
    stop    all at once

A master with inSyncReplicas=2 refuses sends until its slave has connected, some milliseconds after
both have started; a slave that stays away delays the start by a few seconds only. If slaves stopped
before their masters, or the reverse, those that are left would report the loss of the others.
"""

import asyncio
import contextlib
import logging
from collections.abc import Sequence

from aerobee.app.process.broker_process import BrokerPart
from aerobee.app.process.lifecycle import Ended
from aerobee.model.broker_role import BrokerRole

_log = logging.getLogger(__name__)

SECONDS_MAX = 5.0
_LOOK_SECONDS = 0.01


class BrokerGroup:
    def __init__(self, brokers: Sequence[BrokerPart], seconds_max: float = SECONDS_MAX) -> None:
        """`seconds_max`: how long the start waits for slaves."""
        self._brokers = brokers
        self._seconds_max = seconds_max

    async def start(self, failed: Ended) -> str:
        places = []
        async with contextlib.AsyncExitStack() as undo:
            for broker in self._brokers:
                places.append(await broker.start(failed))
                undo.push_async_callback(broker.stop)
            await self._wait_for_slaves()
            undo.pop_all()
        return ", ".join(places)

    async def stop(self) -> None:
        """Stop all brokers, also if one of them fails to."""
        ends = (broker.stop() for broker in self._brokers)
        said = await asyncio.gather(*ends, return_exceptions=True)
        faults = [one for one in said if isinstance(one, Exception)]
        if faults:
            raise ExceptionGroup("brokers did not stop as they should", faults)

    def _lacking(self) -> list[str]:
        """The names that take no sends yet."""
        return sorted({one.name for one in self._brokers if _lacks_slaves(one)})

    async def _wait_for_slaves(self) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + self._seconds_max
        while lacking := self._lacking():
            if loop.time() >= end:
                _log.warning(
                    "%s refuses sends until a slave is in sync: see `aerobee broker replicas`",
                    ", ".join(lacking),
                )
                return
            await asyncio.sleep(_LOOK_SECONDS)


def _lacks_slaves(broker: BrokerPart) -> bool:
    return broker.replication.role is BrokerRole.SYNC_MASTER and broker.refuses_sends
