"""SlaveWait delays the line `ready` until masters take sends that wait for a copy on a slave.

A master with inSyncReplicas=2 refuses sends until its slave has connected, some milliseconds after
both have started. A slave that stays away holds the start up for a few seconds only.
"""

import asyncio
import logging
from collections.abc import Iterable

from aerobee.app.process.broker_process import BrokerPart
from aerobee.app.process.lifecycle import Ended
from aerobee.model.broker_role import BrokerRole

_log = logging.getLogger(__name__)

SECONDS_MAX = 5.0
_LOOK_SECONDS = 0.01


class SlaveWait:
    """A part that is started after masters and slaves of one process."""

    def __init__(self, brokers: Iterable[BrokerPart], seconds_max: float = SECONDS_MAX) -> None:
        self._brokers = list(brokers)
        self._seconds_max = seconds_max

    async def start(self, failed: Ended) -> str:
        loop = asyncio.get_running_loop()
        end = loop.time() + self._seconds_max
        while names := [one.name for one in self._brokers if _lacks_slaves(one)]:
            if loop.time() >= end:
                _log.warning(
                    "sends to %s are refused until a slave is in sync: see `aerobee broker "
                    "replicas`",
                    ", ".join(names),
                )
                break
            await asyncio.sleep(_LOOK_SECONDS)
        return ""

    async def stop(self) -> None:
        """Do nothing: only the start waits."""


def _lacks_slaves(broker: BrokerPart) -> bool:
    return broker.replication.role is BrokerRole.SYNC_MASTER and broker.refuses_sends
