"""Deeds of clients, in any order: the tables of who is there agree with themselves and with a
plain list of what happened.
"""

from hypothesis import given
from hypothesis import strategies as st

from aerobee.errors import RemoteProtocolError
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.ports.service import ChannelId
from aerobee.protocol.bodies.heartbeat import ConsumerBeat
from aerobee.service.broker.clients.consumers import Consumers, Member, MemberLimits
from aerobee.service.broker.clients.producers import Producers
from aerobee.service.broker.clients.queue_locks import QueueLocks

LIMITS = MemberLimits(members_max=3, groups_max=2)
CHANNELS = [ChannelId(number) for number in range(4)]
GROUPS = ["g", "h", "i"]
CLIENTS = ["a", "b", "c"]

Step = tuple[str, ChannelId, str, str]
steps = st.lists(
    st.tuples(
        st.sampled_from(["beat", "beat", "beat", "leave", "close"]),
        st.sampled_from(CHANNELS),
        st.sampled_from(GROUPS),
        st.sampled_from(CLIENTS),
    ),
    max_size=40,
)


class Model:
    """(group, channel) → client."""

    def __init__(self) -> None:
        self.members: dict[tuple[str, ChannelId], str] = {}

    def has_room(self, group: str, channel: ChannelId) -> bool:
        if (group, channel) in self.members:
            return True
        of_group = sum(name == group for name, _ in self.members)
        of_channel = sum(one == channel for _, one in self.members)
        return of_group < LIMITS.members_max and of_channel < LIMITS.groups_max

    def take(self, step: Step) -> bool:
        """Whether it is allowed."""
        what, channel, group, client = step
        if what == "beat":
            if not self.has_room(group, channel):
                return False
            self.members[group, channel] = client
        elif what == "leave":
            self.members.pop((group, channel), None)
        else:
            for key in [key for key in self.members if key[1] == channel]:
                del self.members[key]
        return True


def member(channel: ChannelId, client: str) -> Member:
    return Member(channel, client, "JAVA", 513, "", 0, 0)


@given(steps)
def test_consumers_are_who_beat_and_did_not_leave(story: list[Step]) -> None:
    consumers, model = Consumers(LIMITS), Model()
    for step in story:
        what, channel, group, client = step
        is_allowed = model.take(step)
        if what == "beat":
            try:
                consumers.beat(ConsumerBeat(group), member(channel, client))
            except RemoteProtocolError:
                assert not is_allowed
            else:
                assert is_allowed
        elif what == "leave":
            consumers.unregister(group, channel)
        else:
            consumers.drop_channel(channel)
        found = {
            (one.name, place): who.client_id
            for one in consumers.all()
            for place, who in one.members.items()
        }
        assert found == model.members
        assert all(one.members for one in consumers.all())
        for place in CHANNELS:
            groups = [name for name, _ in consumers.memberships(place)]
            assert groups == sorted(name for name, one in model.members if one == place)
            assert consumers.has_channel(place) == bool(groups)


@given(steps)
def test_producers_are_who_beat_and_are_reached_only_where_they_are(story: list[Step]) -> None:
    producers, model = Producers(LIMITS), Model()
    for step in story:
        what, channel, group, client = step
        is_allowed = model.take(step)
        if what == "beat":
            try:
                producers.beat(group, member(channel, client))
            except RemoteProtocolError:
                assert not is_allowed
            else:
                assert is_allowed
                assert producers.find_client(client) in {
                    place for (_, place), who in model.members.items() if who == client
                }
        elif what == "leave":
            producers.unregister(group, channel)
        else:
            producers.drop_channel(channel)
        found = {
            (name, one.channel): one.client_id
            for name, members in producers.all().items()
            for one in members
        }
        assert found == model.members
        for name in CLIENTS:
            place = producers.find_client(name)
            assert place is None or name in [
                who for (_, one), who in model.members.items() if one == place
            ]


lock_steps = st.lists(
    st.tuples(
        st.sampled_from(["lock", "lock", "unlock", "drop", "wait", "tidy"]),
        st.sampled_from(GROUPS[:2]),
        st.sampled_from(CLIENTS),
        st.integers(0, 3),
    ),
    max_size=60,
)


@given(lock_steps)
def test_a_queue_is_never_granted_to_two_clients_within_one_lock_time(
    story: list[tuple[str, str, str, int]],
) -> None:
    locks = QueueLocks(lock_ms_max=100, locks_max=5)
    now_ms = 0
    held: dict[tuple[str, int], tuple[str, int]] = {}
    for what, group, client, number in story:
        queue = MessageQueue("T", "b", QueueId(number))
        key = (group, number)
        holder, until_ms = held.get(key, ("", -1))
        if what == "lock":
            granted = locks.lock(group, client, [queue], now_ms)
            if holder not in ("", client) and now_ms <= until_ms:
                assert granted == []
            if granted:
                held[key] = (client, now_ms + 100)
        elif what == "unlock":
            locks.unlock(group, client, [queue])
            if holder == client:
                del held[key]
        elif what == "drop":
            locks.drop_member(group, client)
            held = {one: lock for one, lock in held.items() if one[0] != group or lock[0] != client}
        elif what == "wait":
            now_ms += 40
        else:
            locks.drop_expired(now_ms)
        assert locks.is_any_held(group, now_ms) == any(
            one[0] == group and now_ms <= lock[1] for one, lock in held.items()
        )
