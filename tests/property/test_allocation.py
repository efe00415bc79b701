"""Members that see the same lists share the queues out: each to one, none to nobody."""

from hypothesis import given
from hypothesis import strategies as st

from aerobee.client.core.consume.allocation import (
    Averagely,
    AveragelyByCircle,
    ConsistentHash,
    NearbyMachineRoom,
    Strategy,
    in_order,
)
from aerobee.client.core.consume.rebalance import TopicShare, change, wanted_queues
from aerobee.model.message_queue import MessageQueue, QueueId

names = st.text("abxyz@1", min_size=1, max_size=5)
members = st.lists(names, min_size=1, max_size=12, unique=True)
queues = st.lists(
    st.builds(
        MessageQueue, st.just("T"), names, st.integers(min_value=0, max_value=20).map(QueueId)
    ),
    max_size=40,
    unique=True,
)
ways: st.SearchStrategy[Strategy] = st.sampled_from(
    [
        Averagely(),
        AveragelyByCircle(),
        ConsistentHash(),
        NearbyMachineRoom(lambda name: name[0], lambda name: name[0]),
        NearbyMachineRoom(lambda name: name[0], lambda name: name[-1], AveragelyByCircle()),
    ]
)


@given(ways, members, queues)
def test_every_queue_goes_to_one_member(
    way: Strategy, some: list[str], those: list[MessageQueue]
) -> None:
    ordered, ids = in_order(those, some)
    dealt = [queue for one in ids for queue in way.share(one, ordered, ids)]
    assert sorted(dealt) == ordered


@given(st.sampled_from([Averagely(), AveragelyByCircle()]), members, queues)
def test_no_member_has_two_more_than_another(
    way: Strategy, some: list[str], those: list[MessageQueue]
) -> None:
    ordered, ids = in_order(those, some)
    counts = [len(way.share(one, ordered, ids)) for one in ids]
    assert max(counts) - min(counts) <= 1


@given(ways, members, members, queues)
def test_after_a_change_of_members_each_owns_what_it_should(
    way: Strategy, before: list[str], after: list[str], those: list[MessageQueue]
) -> None:
    owned = {
        one: set(wanted_queues(one, {"T": TopicShare(tuple(those), tuple(before))}, (), way))
        for one in {*before, *after}
    }
    for one, own in owned.items():
        wanted = wanted_queues(one, {"T": TopicShare(tuple(those), tuple(after))}, own, way)
        moved = change(own, wanted)
        assert not moved.lost & moved.gained
        own -= moved.lost
        own |= moved.gained
    assert sorted(queue for own in owned.values() for queue in own) == sorted(those)
