"""A consumer group as a broker keeps it.

Agrees with Java's SubscriptionGroupConfig, defaults included. What only newer clients than ours
read, how long to wait between retries and what the group may subscribe to, is carried as it came.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

CUSTOMIZED_RETRIES: Mapping[str, Any] = {"type": "CUSTOMIZED"}
"""The retry policy of a group for which none was set: the broker's delay levels."""

RETRIES_MAX = 16


@dataclass(frozen=True, slots=True)
class GroupConfig:
    """What is known of one group on one broker."""

    name: str
    is_enabled: bool = True
    """Off: nobody of the group may consume."""
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
    """Where consumers that are far behind are sent."""
    notifies_changes: bool = True
    """Whether members are told at once when one comes or goes."""
    sys_flag: int = 0
    consume_timeout_minutes: int = 15
    subscriptions: Sequence[Mapping[str, Any]] | None = None
    """What it may subscribe to; None: whatever it likes."""
    attributes: Mapping[str, str] = field(default_factory=dict)
