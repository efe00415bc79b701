"""Metrics of connected clients, and of groups whose members have different subscriptions.

Versions are the numbers that clients send.
"""

from collections import Counter
from collections.abc import Iterator

from aerobee.model.metric import Metric, gauge, single_gauge
from aerobee.model.names import is_system_group
from aerobee.model.subscription import ConsumeType
from aerobee.service.broker.clients.consumers import Consumers, Member
from aerobee.service.broker.clients.producers import Producers
from aerobee.service.broker.metrics.sample_bounds import bounded

_MODES = {ConsumeType.ACTIVELY: "pull", ConsumeType.PASSIVELY: "push", ConsumeType.POP: "pop"}
_Labelled = tuple[dict[str, str], float]


class ClientMetrics:
    def __init__(self, consumers: Consumers, producers: Producers) -> None:
        self._consumers = consumers
        self._producers = producers

    def metrics(self, samples_max: int) -> Iterator[Metric]:
        yield gauge(
            "rocketmq_producer_connections",
            "Connections of producers",
            bounded(self._producing(), samples_max),
        )
        yield gauge(
            "rocketmq_consumer_connections",
            "Connections of consumers",
            bounded(self._consuming(), samples_max),
        )
        mixed = self._consumers.mismatches()
        yield single_gauge(
            "aerobee_subscription_mismatches",
            "Groups whose members do not all subscribe to the same",
            len(mixed),
        )
        yield gauge(
            "aerobee_subscription_mismatch",
            "1 for each of these groups",
            bounded((({"consumer_group": group.name}, 1) for group in mixed), samples_max),
        )

    def _producing(self) -> Iterator[_Labelled]:
        counts = Counter(
            _traits(member) for members in self._producers.all().values() for member in members
        )
        for traits, count in sorted(counts.items()):
            yield _labels(*traits), count

    def _consuming(self) -> Iterator[_Labelled]:
        for group in self._consumers.all():
            counts = Counter(_traits(member) for member in group.members.values())
            for traits, count in sorted(counts.items()):
                labels = {
                    "consumer_group": group.name,
                    **_labels(*traits),
                    "consume_mode": _MODES[group.consume_type],
                    "is_system": str(is_system_group(group.name)).lower(),
                }
                yield labels, count


def _traits(member: Member) -> tuple[str, int, str]:
    return member.language, member.version, member.protocol_type


def _labels(language: str, version: int, protocol_type: str) -> dict[str, str]:
    return {
        "language": language.lower(),
        "version": str(version),
        "protocol_type": protocol_type,
    }
