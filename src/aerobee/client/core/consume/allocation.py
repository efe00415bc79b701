"""Allocation strategies: RocketMQ's six rules that share the queues of a topic among a group's
members.

Every member computes the allocation for itself from the same two lists, so all must come to the
same result, Java members too: the rules and the names are exactly those of RocketMQ's client.

A1. A client that is not among the members gets nothing.
A2. With the same lists, no queue goes to two members, and (but for CONFIG, and for rooms that are
    not served by MACHINE_ROOM) every queue goes to one.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue

VIRTUAL_NODES = 10  # of each member on the ring of ConsistentHash
ROOM_SEPARATOR = "@"

RoomOf = Callable[[str], str]
"""The machine room of a broker's name, or of a client's id."""


class Strategy(Protocol):
    """An allocation strategy."""

    @property
    def name(self) -> str:
        """RocketMQ's name of the strategy, shown to administrators."""

    def share(
        self, member: str, queues: Sequence[MessageQueue], members: Sequence[str]
    ) -> list[MessageQueue]:
        """The queues of `member`. Both lists are in RocketMQ's order, see `in_order`."""


def in_order(
    queues: Collection[MessageQueue], members: Collection[str]
) -> tuple[list[MessageQueue], list[str]]:
    """Both lists in the order that members of every language use."""
    # Java compares texts by their UTF-16 units: names are ASCII, where that is the same.
    return sorted(set(queues)), sorted(set(members))


class Averagely:
    """Neighbouring queues, as evenly as can be. The default."""

    name = "AVG"

    def share(
        self, member: str, queues: Sequence[MessageQueue], members: Sequence[str]
    ) -> list[MessageQueue]:
        if member not in members:
            return []
        index = members.index(member)
        size, rest = divmod(len(queues), len(members))
        start = index * size + min(index, rest)
        return list(queues[start : start + size + (index < rest)])


class AveragelyByCircle:
    """Queues in turn: with n members, every n-th queue."""

    name = "AVG_BY_CIRCLE"

    def share(
        self, member: str, queues: Sequence[MessageQueue], members: Sequence[str]
    ) -> list[MessageQueue]:
        return list(queues[members.index(member) :: len(members)]) if member in members else []


class ConsistentHash:
    """Queues by a ring of hashes: few of them move when a member comes or goes."""

    name = "CONSISTENT_HASH"

    def __init__(self, virtual_nodes: int = VIRTUAL_NODES) -> None:
        if virtual_nodes < 1:
            raise Misuse(f"{virtual_nodes} virtual nodes: a member needs one at least")
        self._virtual_nodes = virtual_nodes

    def share(
        self, member: str, queues: Sequence[MessageQueue], members: Sequence[str]
    ) -> list[MessageQueue]:
        if member not in members:
            return []
        # Of two nodes with one hash the later counts, as in Java's map.
        owners = {
            _ring_place(f"{one}-{node}"): one
            for one in members
            for node in range(self._virtual_nodes)
        }
        places = sorted(owners)
        return [
            queue
            for queue in queues
            if owners[places[bisect_left(places, _ring_place(queue.java_text)) % len(places)]]
            == member
        ]


class ByConfiguration:
    """The queues configured for this member, regardless of other members."""

    name = "CONFIG"

    def __init__(self, queues: Collection[MessageQueue]) -> None:
        self._queues = tuple(queues)

    def share(
        self, member: str, queues: Sequence[MessageQueue], members: Sequence[str]
    ) -> list[MessageQueue]:
        return list(self._queues)


class ByMachineRoom:
    """Queues of brokers that are called `room@name`, of the rooms that are served here."""

    name = "MACHINE_ROOM"

    def __init__(self, rooms: Collection[str]) -> None:
        self._rooms = frozenset(rooms)

    def share(
        self, member: str, queues: Sequence[MessageQueue], members: Sequence[str]
    ) -> list[MessageQueue]:
        if member not in members:
            return []
        index = members.index(member)
        dispatch = [queue for queue in queues if self._is_served(queue.broker_name)]
        size, rest = divmod(len(dispatch), len(members))
        found = dispatch[index * size : (index + 1) * size]
        if index < rest:
            found.append(dispatch[size * len(members) + index])
        return found

    def _is_served(self, broker_name: str) -> bool:
        parts = broker_name.split(ROOM_SEPARATOR)
        return len(parts) == 2 and parts[0] in self._rooms


class NearbyMachineRoom:
    """Queues go to members of their own room, by another strategy; those of a room that has no
    member go to all.
    """

    def __init__(
        self, broker_room: RoomOf, member_room: RoomOf, inner: Strategy | None = None
    ) -> None:
        self._broker_room = broker_room
        self._member_room = member_room
        self._inner: Strategy = inner or Averagely()

    @property
    def name(self) -> str:
        return f"MACHINE_ROOM_NEARBY-{self._inner.name}"

    def share(
        self, member: str, queues: Sequence[MessageQueue], members: Sequence[str]
    ) -> list[MessageQueue]:
        if member not in members:
            return []
        queues_of: dict[str, list[MessageQueue]] = {}
        for queue in queues:
            queues_of.setdefault(_room(self._broker_room, queue.broker_name), []).append(queue)
        members_of: dict[str, list[str]] = {}
        for one in members:
            members_of.setdefault(_room(self._member_room, one), []).append(one)
        own = self._member_room(member)
        found = self._inner.share(member, queues_of.pop(own, []), members_of[own])
        for room in sorted(queues_of):
            if room not in members_of:
                found += self._inner.share(member, queues_of[room], members)
        return found


def _room(room_of: RoomOf, name: str) -> str:
    room = room_of(name)
    if not room:
        raise Misuse(f"{name} is in no machine room", hint="the resolver must know a room for each")
    return room


def _ring_place(text: str) -> int:
    return int.from_bytes(hashlib.md5(text.encode(), usedforsecurity=False).digest()[:4], "big")
