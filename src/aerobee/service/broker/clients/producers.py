"""Producers is the table of connected producers: the connections of each group and of each client.

Brokers need it to check transactions with a group and to push replies to the requesting client. A
member is a connection, as in `consumers`, with the same limits.
"""

from aerobee.errors import RemoteProtocolError
from aerobee.ports.service import ChannelId
from aerobee.service.broker.clients.consumers import LIMITS, Member, MemberLimits


class Producers:
    """All producer groups, by name and by connection. P1. No group is without members."""

    def __init__(self, limits: MemberLimits = LIMITS) -> None:
        self._limits = limits
        self._groups: dict[str, dict[ChannelId, Member]] = {}
        self._by_channel: dict[ChannelId, set[str]] = {}
        # The newest connection of each client.
        self._by_client: dict[str, ChannelId] = {}
        self._memberships = 0

    def beat(self, group: str, member: Member) -> None:
        members = self._groups.get(group, {})
        mine = self._by_channel.get(member.channel, set())
        if member.channel not in members and (
            len(members) >= self._limits.members_max
            or len(mine) >= self._limits.groups_max
            or self._memberships >= self._limits.memberships_max
        ):
            raise RemoteProtocolError(
                f"too many producers: the group {group} has {len(members)} members, "
                f"the connection is a member of {len(mine)} groups, "
                f"there are {self._memberships} members in all"
            )
        before = members.get(member.channel)
        self._memberships += before is None
        members[member.channel] = member
        mine.add(group)
        self._groups[group] = members
        self._by_channel[member.channel] = mine
        if before is not None and before.client_id != member.client_id:
            self._forget_client(before)
        if self._by_client.get(member.client_id, member.channel) <= member.channel:
            self._by_client[member.client_id] = member.channel

    def unregister(self, group: str, channel: ChannelId) -> Member | None:
        """End a membership; returns the former member."""
        members = self._groups.get(group, {})
        member = members.pop(channel, None)
        if member is None:
            return None
        self._memberships -= 1
        if not members:
            del self._groups[group]
        mine = self._by_channel[channel]
        mine.discard(group)
        if not mine:
            del self._by_channel[channel]
        self._forget_client(member)
        return member

    def drop_channel(self, channel: ChannelId) -> list[str]:
        """A connection is closed; returns the groups that it was a member of."""
        groups = sorted(self._by_channel.get(channel, ()))
        for group in groups:
            self.unregister(group, channel)
        return groups

    def find_silent(self, monotonic_ms: int, silent_ms_max: int) -> list[tuple[str, Member]]:
        """Memberships without a heartbeat for too long."""
        return [
            (group, member)
            for group, members in self._groups.items()
            for member in members.values()
            if monotonic_ms - member.beaten_ms > silent_ms_max
        ]

    def has_channel(self, channel: ChannelId) -> bool:
        return channel in self._by_channel

    def members(self, group: str) -> list[Member]:
        return list(self._groups.get(group, {}).values())

    def find_client(self, client_id: str) -> ChannelId | None:
        """The newest connection of a client."""
        return self._by_client.get(client_id)

    def all(self) -> dict[str, list[Member]]:
        return {group: list(members.values()) for group, members in self._groups.items()}

    def _forget_client(self, gone: Member) -> None:
        """Remove the client of an ended membership from `_by_client`, unless the connection is in
        other groups under the same client id."""
        if self._by_client.get(gone.client_id) == gone.channel and not any(
            self._groups[group][gone.channel].client_id == gone.client_id
            for group in self._by_channel.get(gone.channel, ())
        ):
            del self._by_client[gone.client_id]
