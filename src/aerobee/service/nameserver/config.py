"""NameServerConfig: the settings of a name server, frozen, and RocketMQ's names for them.

Settings that may change while it runs are marked live in `SETTINGS`; no path and nothing about
listening can be changed by a request.
"""

from dataclasses import dataclass

from aerobee.model.setting import TRUTH, Setting, Whole
from aerobee.service.access.config import CALLER_LIMIT_SETTINGS, CallerLimits
from aerobee.service.access.request_limits import LimitConfig

HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class NameServerConfig(CallerLimits):
    has_order_in_routes: bool = False
    """Routes carry the order configuration: producers then use exactly the queues that it names."""
    has_order_in_registrations: bool = True
    """Brokers are told the order configuration each time they register."""
    lists_all_topics: bool = True
    """Off: the list of all topics, which can be long, is refused."""
    lists_topics: bool = True
    """Off: every other list of topics is refused."""
    shows_acting_master: bool = False
    """A slave that stands in for its master is shown under the master's id. On: consumers of old
    clients go on reading when the master is gone."""
    notifies_min_ids: bool = False
    """Brokers whose slaves may act as master are told at once when the smallest id of their name
    changes. Off: they notice when they ask, every second."""
    waits_for_brokers: bool = False
    """Routes are refused until brokers had time to register. On: after a restart, clients keep the
    routes they have instead of hearing that a topic does not exist."""
    wait_ms: int = 45_000
    """How long that is, from the start."""
    scan_interval_ms: int = 5_000
    """How often brokers that fell silent are looked for. Longer: they are in routes for longer."""

    @property
    def limits(self) -> LimitConfig:
        return LimitConfig(
            self.user_requests_max,
            self.user_bytes_max,
            self.user_connections_max,
            self.address_requests_max,
            self.address_bytes_max,
            self.address_connections_max,
        )


SETTINGS = (
    Setting("orderMessageEnable", "has_order_in_routes", TRUTH, is_live=True),
    Setting("returnOrderTopicConfigToBroker", "has_order_in_registrations", TRUTH, is_live=True),
    Setting("enableAllTopicList", "lists_all_topics", TRUTH, is_live=True),
    Setting("enableTopicList", "lists_topics", TRUTH, is_live=True),
    Setting("supportActingMaster", "shows_acting_master", TRUTH, is_live=True),
    Setting("notifyMinBrokerIdChanged", "notifies_min_ids", TRUTH, is_live=True),
    Setting("needWaitForService", "waits_for_brokers", TRUTH, is_live=True),
    Setting("waitSecondsForService", "wait_ms", Whole(0, 3600, scale=1000), is_live=True),
    Setting("scanNotActiveBrokerInterval", "scan_interval_ms", Whole(1, HOUR_MS), is_live=True),
    *CALLER_LIMIT_SETTINGS,
)
