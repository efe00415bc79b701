"""Names of requests that are read in place, checked as the messaging service checks them.

A name that is not sound leaves its request to that service, which says what is wrong with it.
"""

from aerobee.model.message_type import MessageType
from aerobee.model.topic import TopicConfig
from aerobee.protocol.grpc.resources import Resource
from aerobee.service.proxy.call_checks import check_type, group_in, topic_in
from aerobee.service.proxy.outcomes import CallRefused


def sound_topic(name: bytes) -> str | None:
    """A topic's name; None: it is none."""
    try:
        return topic_in(Resource(name=name.decode()))
    except CallRefused:
        return None


def sound_group(name: bytes) -> str | None:
    """A group's name; None: it is none."""
    try:
        return group_in(Resource(name=name.decode()))
    except CallRefused:
        return None


def takes_normal(config: TopicConfig) -> bool:
    """Whether a topic takes messages that are neither half, timed, ordered nor ranked."""
    try:
        check_type(config, MessageType.NORMAL)
    except CallRefused:
        return False
    return True
