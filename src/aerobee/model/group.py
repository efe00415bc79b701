"""GroupConfig: the configuration of a consumer group on a broker.

Agrees with Java's SubscriptionGroupConfig, defaults included. Fields that only newer clients than
ours read, the retry policy and the allowed subscriptions, are kept as they came.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

CUSTOMIZED_RETRIES: Mapping[str, Any] = {"type": "CUSTOMIZED"}
"""The retry policy of a group for which none was set: the broker's delay levels."""

RETRIES_MAX = 16
PRIORITY_FACTOR = "priority.factor"
PRIORITY_FACTOR_MAX = 100
"""An attribute: the percentage of pops of PRIORITY topics that go by priority. Default: all."""


@dataclass(frozen=True, slots=True)
class GroupConfig:
    """The configuration of one group on one broker."""

    name: str
    is_enabled: bool = True
    """Off: the group may not consume."""
    reads_from_min: bool = True
    """Whether it may begin with the oldest message."""
    may_broadcast: bool = True
    is_orderly: bool = False
    retry_queues: int = 1
    """Queues of its retry topic."""
    retries_max: int = RETRIES_MAX
    """Deliveries of one message after the first; then it is a dead letter."""
    retry_policy: Mapping[str, Any] = field(default_factory=lambda: CUSTOMIZED_RETRIES)
    broker_id: int = 0
    slow_broker_id: int = 1
    """The broker id for consumers that are far behind."""
    notifies_changes: bool = True
    """Whether members are notified at once when one comes or goes."""
    sys_flag: int = 0
    consume_timeout_minutes: int = 15
    subscriptions: Sequence[Mapping[str, Any]] | None = None
    """The allowed subscriptions; None: any."""
    attributes: Mapping[str, str] = field(default_factory=dict)

    @property
    def priority_factor(self) -> int:
        """The percentage of its pops of PRIORITY topics that go by priority."""
        text = self.attributes.get(PRIORITY_FACTOR, "")
        return int(text) if text.isascii() and text.isdigit() else PRIORITY_FACTOR_MAX
