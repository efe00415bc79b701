"""Header fields of administration requests about a broker's inside: the units of one queue, one
figure of its statistics.
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import Int32, Int64


@dataclass(frozen=True, slots=True)
class QueueUnitsHeader:
    topic: str
    queue_id: Int32
    index: Int64
    """The first queue offset that is wanted."""
    count: Int32
    consumer_group: str = ""
    """Whose subscription is to be shown, too."""


@dataclass(frozen=True, slots=True)
class StatsDataHeader:
    stats_name: str
    """What is counted: `TOPIC_PUT_NUMS`."""
    stats_key: str
    """Of what: a topic, `topic@group`, a cluster."""
