"""BrokerStatus measures throughput for GET_BROKER_RUNTIME_INFO, and builds the status handlers.

The counters are sampled once a second. Imports more than 15 modules because it builds what answers
about all of them.
"""

from collections.abc import Callable

from aerobee.model.names import TIMER_TOPIC
from aerobee.ports.clock import Now
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.admin.broker.broker_config_handlers import BrokerConfigHandlers
from aerobee.service.broker.admin.broker.broker_status_handlers import BrokerStatusHandlers, Flows
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.delay.delay_levels import DelayLevels
from aerobee.service.broker.delay.delay_offset_handlers import DelayOffsetHandlers
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.statistics.put_latency import PutLatency
from aerobee.service.broker.statistics.request_times import BOUNDS_MS, RequestTimes
from aerobee.service.broker.statistics.throughput import Throughput
from aerobee.service.broker.timer.timers import Timers
from aerobee.service.live_config import LiveConfig
from aerobee.storage.store import Store

Count = Callable[[], int]

_SENDS = (RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE)
_PULLS = (RequestCode.PULL_MESSAGE, RequestCode.LITE_PULL_MESSAGE)
_STORED = (ResponseCode.SUCCESS, ResponseCode.FLUSH_DISK_TIMEOUT)


class BrokerStatus:
    def __init__(
        self,
        messages_in: Count,
        messages_out: Count,
        times: RequestTimes,
        timers: Timers,
        store: Store,
        started: Now,
    ) -> None:
        self._timers = timers
        self._store = store
        self._started = started
        self._times = times
        self._latency = PutLatency(BOUNDS_MS, self._stored_sends, started)
        self._flows = Flows(
            put=Throughput(messages_in, started),
            got=Throughput(messages_out, started),
            found=Throughput(lambda: self._pulls(is_found=True), started),
            missed=Throughput(lambda: self._pulls(is_found=False), started),
            timed_in=Throughput(self._timed_in, started),
            timed_out=Throughput(lambda: timers.delivered, started),
        )

    def on_tick(self, now: Now) -> None:
        for flow in self._flows:
            flow.on_tick(now)
        self._latency.on_tick(now)

    def rows(
        self, config: LiveConfig[BrokerConfig], delays: DelayLevels, *, is_active: bool
    ) -> list[Row]:
        """`is_active`: the broker delivers what is due, and asks about transactions."""
        status = BrokerStatusHandlers(
            self._store,
            delays,
            self._timers,
            self._flows,
            self._latency,
            self._refused_sends,
            self._started,
            is_active=is_active,
        )
        return [
            *DelayOffsetHandlers(delays.offsets).rows(),
            *BrokerConfigHandlers(config, self._store, self._started).rows(),
            *status.rows(),
        ]

    def _pulls(self, *, is_found: bool) -> int:
        """The number of pulls that got messages, or got none, since the start."""
        return sum(
            histogram.count
            for outcome, histogram in self._times
            if outcome.request in _PULLS and (outcome.response is ResponseCode.SUCCESS) == is_found
        )

    def _stored_sends(self) -> list[int]:
        """The number of sends that were stored, by their times, since the start."""
        counts = [0] * (len(BOUNDS_MS) + 1)
        for outcome, histogram in self._times:
            if outcome.request in _SENDS and outcome.response in _STORED:
                counts = [one + more for one, more in zip(counts, histogram.counts, strict=True)]
        return counts

    def _timed_in(self) -> int:
        """The number of timed messages ever stored."""
        queue = self._store.queue(TIMER_TOPIC.encode(), 0)
        return queue.max_offset if queue is not None else 0

    def _refused_sends(self) -> int:
        return sum(
            histogram.count
            for outcome, histogram in self._times
            if outcome.request in _SENDS and outcome.response not in _STORED
        )
