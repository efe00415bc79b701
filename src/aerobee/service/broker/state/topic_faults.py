"""Faults of topics that are to be made or changed: their name, numbers of queues, permission, type.

`find_…_fault` returns the fault in words that fit into an answer to a peer, or None.
"""

from aerobee.model.names import find_topic_fault, is_system_topic
from aerobee.model.topic import MESSAGE_TYPE, QUEUES_MAX, SINGLE_TAG, TopicConfig
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.state.attributes import MIXED

PERMISSION_MAX = 7
FILTER_TYPES = (SINGLE_TAG, "MULTI_TAG")


def find_config_fault(wanted: TopicConfig, identity: BrokerIdentity) -> str | None:
    """The fault of a topic; its attributes are changes, by signed name."""
    fault = find_topic_fault(wanted.name)
    if fault is not None:
        return fault
    if is_system(wanted.name, identity):
        return system_conflict(wanted.name)
    for what, queues in (
        ("readQueueNums", wanted.read_queues),
        ("writeQueueNums", wanted.write_queues),
    ):
        if not 0 <= queues <= QUEUES_MAX:
            return f"{what} is {queues}, not from 0 to {QUEUES_MAX}"
    if not 0 <= wanted.permission <= PERMISSION_MAX:
        return f"perm is {wanted.permission}, not from 0 to {PERMISSION_MAX}"
    if wanted.filter_type not in FILTER_TYPES:
        return f"topicFilterType is {wanted.filter_type[:40]!r}, not one of {FILTER_TYPES}"
    if wanted.attributes.get(f"+{MESSAGE_TYPE}") == MIXED:
        return "MIXED message type is not supported."
    return None


def is_system(name: str, identity: BrokerIdentity) -> bool:
    """Whether a topic is one of the broker's own, which tools may neither make nor delete."""
    return is_system_topic(name, cluster=identity.cluster, broker=identity.name)


def system_conflict(name: str) -> str:
    return f"The topic[{name}] is conflict with system topic."
