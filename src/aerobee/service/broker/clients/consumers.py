"""Consumers is the table of connected consumers: the members and subscriptions of each group.

A member is a connection: closing it ends the membership. Subscriptions belong to the group, and the
heartbeat of any member has all of them; of two for one topic the later version counts. Members with
different subscriptions are a mistake, which is shown here and logged when it changes. A group
without members is not here: its offsets are in `consumer_offsets`, its configuration in `groups`.

Everything is bounded, because peers decide how much of it there is.
"""

import itertools
import logging
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from aerobee.errors import RemoteProtocolError
from aerobee.model.subscription import ConsumeFrom, ConsumeType, MessageModel, Subscription
from aerobee.ports.service import ChannelId
from aerobee.protocol.bodies.heartbeat import ConsumerBeat
from aerobee.service.broker.clients.subscription_views import SubscriptionViews
from aerobee.service.request import REMOTING

_log = logging.getLogger(__name__)


class Member(NamedTuple):
    """A client on one connection, as of its last heartbeat."""

    channel: ChannelId
    client_id: str
    language: str
    version: int
    peer: str
    beaten_ms: int
    """On the monotonic clock."""
    beaten_wall_ms: int
    protocol_type: str = REMOTING


class MemberLimits(NamedTuple):
    members_max: int = 10_000
    """Members of one group: each is notified of every change."""
    groups_max: int = 1_000
    """Groups of one connection."""
    memberships_max: int = 200_000
    """Memberships of all connections in all groups."""
    subscriptions_max: int = 500_000
    """Subscriptions and tags of all groups: some 200 bytes each."""


LIMITS = MemberLimits()
REPORTS_MAX = 100
"""Limit of groups whose mismatches are logged at a time."""


class ConsumerGroup:
    """A group with its members. C1. There is at least one."""

    __slots__ = (
        "consume_from",
        "consume_type",
        "fingerprint",
        "members",
        "message_model",
        "name",
        "subscriptions",
        "views",
    )

    def __init__(self, beat: ConsumerBeat) -> None:
        self.name = beat.group
        self.consume_type: ConsumeType = beat.consume_type
        self.message_model: MessageModel = beat.message_model
        self.consume_from: ConsumeFrom = beat.consume_from
        self.members: dict[ChannelId, Member] = {}
        self.subscriptions: Mapping[str, Subscription] = {}
        self.views = SubscriptionViews()
        # The fingerprint of the last heartbeat that had one.
        self.fingerprint: int | None = None

    @property
    def is_broadcasting(self) -> bool:
        return self.message_model is MessageModel.BROADCASTING

    def client_ids(self) -> list[str]:
        """Each client id once: a client that reconnected may still have its old connection, and if
        it were counted twice, some queues would be assigned to no client."""
        return list(dict.fromkeys(member.client_id for member in self.members.values()))

    def has_client(self, client_id: str) -> bool:
        return any(member.client_id == client_id for member in self.members.values())

    def take_subscriptions(self, said: Mapping[str, Subscription]) -> bool:
        """Set the group's subscriptions; whether its topics changed."""
        before, self.subscriptions = self.subscriptions, said
        return before.keys() != said.keys()

    def said_differently(self) -> dict[str, dict[str, list[str]]]:
        """Topics for which members have different subscriptions: the clients by expression."""
        return {
            topic: {
                text: [self.members[channel].client_id for channel in channels]
                for text, channels in said.items()
            }
            for topic, said in self.views.differences()
        }

    def later(self, said: Iterable[Subscription]) -> dict[str, Subscription]:
        """The group's subscriptions after this heartbeat: by topic, the later of two."""
        return {one.topic: _later(self.subscriptions.get(one.topic), one) for one in said}


class Consumers:
    """All groups with members, by name and by connection."""

    def __init__(self, limits: MemberLimits = LIMITS) -> None:
        self._limits = limits
        self._groups: dict[str, ConsumerGroup] = {}
        self._by_channel: dict[ChannelId, set[str]] = {}
        self._memberships = 0
        # Number of subscriptions and tags of all groups.
        self._weight = 0
        self._views_weight = 0

    def find(self, group: str) -> ConsumerGroup | None:
        return self._groups.get(group)

    def all(self) -> list[ConsumerGroup]:
        return list(self._groups.values())

    def beat(self, beat: ConsumerBeat, member: Member, *, has_subscriptions: bool = True) -> bool:
        """Apply a heartbeat; whether the other members must be notified: of a new member or
        topic."""
        found = self._groups.get(beat.group)
        before = found.members.get(member.channel) if found is not None else None
        if before is None:
            self._check_room(found, member.channel)
        group = found or ConsumerGroup(beat)
        said = group.later(beat.subscriptions) if has_subscriptions else group.subscriptions
        self._weigh(group.subscriptions, said)
        self._memberships += before is None
        self._groups[beat.group] = group
        self._by_channel.setdefault(member.channel, set()).add(beat.group)
        group.members[member.channel] = member
        group.consume_type = beat.consume_type
        group.message_model = beat.message_model
        group.consume_from = beat.consume_from
        has_new_topics = group.take_subscriptions(said)
        if has_subscriptions:
            self._take_view(group, member.channel, beat.subscriptions)
        is_new = before is None or before.client_id != member.client_id
        return is_new or has_new_topics

    def unregister(self, group: str, channel: ChannelId) -> Member | None:
        """End a membership; returns the former member."""
        found = self._groups.get(group)
        member = found.members.pop(channel, None) if found is not None else None
        if found is None or member is None:
            return None
        self._memberships -= 1
        weight = found.views.weight
        found.views.drop(channel)
        self._views_weight += found.views.weight - weight
        if not found.members:
            self._weight -= _weight(found.subscriptions)
            del self._groups[group]
        mine = self._by_channel[channel]
        mine.discard(group)
        if not mine:
            del self._by_channel[channel]
        return member

    def memberships(self, channel: ChannelId) -> list[tuple[str, Member]]:
        """The groups that a connection is a member of."""
        return [
            (group, self._groups[group].members[channel])
            for group in sorted(self._by_channel.get(channel, ()))
        ]

    def drop_channel(self, channel: ChannelId) -> list[str]:
        """A connection is closed; returns the groups that it was a member of."""
        groups = [group for group, _ in self.memberships(channel)]
        for group in groups:
            self.unregister(group, channel)
        return groups

    def find_silent(self, monotonic_ms: int, silent_ms_max: int) -> list[tuple[str, Member]]:
        """Memberships without a heartbeat for too long."""
        return [
            (group.name, member)
            for group in self._groups.values()
            for member in group.members.values()
            if monotonic_ms - member.beaten_ms > silent_ms_max
        ]

    def has_channel(self, channel: ChannelId) -> bool:
        return channel in self._by_channel

    def groups_of(self, topic: str) -> list[str]:
        """Groups that subscribe to a topic now."""
        return sorted(group.name for group in self._groups.values() if topic in group.subscriptions)

    def client_channel(self, group: str, client_id: str) -> ChannelId | None:
        """The newest connection of a client in a group."""
        found = self._groups.get(group)
        if found is None:
            return None
        channels = [one.channel for one in found.members.values() if one.client_id == client_id]
        return max(channels, default=None)

    def mismatches(self) -> list[ConsumerGroup]:
        """The groups whose members have different subscriptions."""
        return [group for group in self._groups.values() if group.views.is_mixed]

    def tell_mismatches(self) -> None:
        """Log the changes of mismatches since the last call."""
        changed = (group for group in self._groups.values() if group.views.has_news)
        for group in itertools.islice(changed, REPORTS_MAX):
            group.views.has_news = False
            _report(group)

    def _take_view(
        self, group: ConsumerGroup, channel: ChannelId, said: Iterable[Subscription]
    ) -> None:
        if self._views_weight <= self._limits.subscriptions_max:  # else members are not compared
            weight = group.views.weight
            group.views.take(channel, said)
            self._views_weight += group.views.weight - weight

    def _check_room(self, group: ConsumerGroup | None, channel: ChannelId) -> None:
        if group is not None and len(group.members) >= self._limits.members_max:
            raise RemoteProtocolError(
                f"the group {group.name} has {len(group.members)} members already"
            )
        if len(self._by_channel.get(channel, ())) >= self._limits.groups_max:
            raise RemoteProtocolError(
                f"the connection is a member of {self._limits.groups_max} groups already"
            )
        if self._memberships >= self._limits.memberships_max:
            raise RemoteProtocolError(f"there are {self._memberships} members in all already")

    def _weigh(self, before: Mapping[str, Subscription], after: Mapping[str, Subscription]) -> None:
        if after is not before:
            weight = self._weight - _weight(before) + _weight(after)
            if self._weight < weight > self._limits.subscriptions_max:
                raise RemoteProtocolError(
                    f"more than {self._limits.subscriptions_max} subscriptions and tags in all"
                )
            self._weight = weight


def _weight(subscriptions: Mapping[str, Subscription]) -> int:
    return sum(1 + len(one.tags) + len(one.expression) // 100 for one in subscriptions.values())


def _later(before: Subscription | None, said: Subscription) -> Subscription:
    return said if before is None or said.version > before.version else before


def _report(group: ConsumerGroup) -> None:
    if group.views.is_mixed:
        _log.warning(
            "members of a group subscribe to different things: give them the same subscriptions, "
            "or groups of their own",
            extra={"group": group.name, "said": _shortened(group.said_differently())},
        )
    else:
        _log.info("members of a group subscribe to the same again", extra={"group": group.name})


def _shortened(said: Mapping[str, Mapping[str, list[str]]]) -> dict[str, dict[str, list[str]]]:
    """An excerpt for the log: some topics, some clients, the beginning of each expression."""
    return {
        topic: {text[:100]: clients[:3] for text, clients in list(by_text.items())[:5]}
        for topic, by_text in list(said.items())[:5]
    }
