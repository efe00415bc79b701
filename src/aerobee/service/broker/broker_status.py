"""How a broker is doing: what passes through it, how far its delays are, and the rows that tell.

What passes is looked at once a second.
"""

from collections.abc import Callable

from aerobee.ports.clock import Now
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.delay.levels import DelayLevels
from aerobee.service.broker.handlers.broker_config import BrokerConfigHandlers
from aerobee.service.broker.handlers.broker_status import BrokerStatusHandlers, Flows
from aerobee.service.broker.handlers.delay_offsets import DelayOffsetHandlers
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.throughput import Throughput
from aerobee.service.live_config import LiveConfig
from aerobee.storage.store import Store

Count = Callable[[], int]


class BrokerStatus:
    def __init__(self, messages_in: Count, messages_out: Count, started: Now) -> None:
        self._flows = Flows(Throughput(messages_in, started), Throughput(messages_out, started))
        self._started = started

    def on_tick(self, now: Now) -> None:
        self._flows.put.on_tick(now)
        self._flows.got.on_tick(now)

    def rows(
        self,
        config: LiveConfig[BrokerConfig],
        store: Store,
        delays: DelayLevels,
    ) -> list[Row]:
        return [
            *DelayOffsetHandlers(delays.offsets).rows(),
            *BrokerConfigHandlers(config, store, self._started).rows(),
            *BrokerStatusHandlers(store, delays, self._flows, self._started).rows(),
        ]
