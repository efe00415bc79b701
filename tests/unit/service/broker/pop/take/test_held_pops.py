from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.pop.take.held_pops import HeldPop, HeldPopLimits, HeldPops, PopPlan
from aerobee.service.request import Request

ANY = ("Orders", "g", -1)


def pop(
    opaque: int = 1,
    *,
    channel: int = 1,
    deadline_ms: int = 100,
    topic: str = "Orders",
    group: str = "g",
    queue_id: int = -1,
) -> HeldPop:
    command = RemotingCommand(200050, opaque=opaque)
    request = Request(ChannelId(channel), command, Now(0, 0), [])
    return HeldPop(request, PopPlan(topic, group, queue_id, 1, 1), deadline_ms)


def opaques(pops: list[HeldPop]) -> list[int]:
    return [one.request.command.opaque for one in pops]


def test_the_one_that_waited_longest_is_taken_first() -> None:
    held = HeldPops()
    assert held.hold(pop(1))
    assert held.hold(pop(2))
    first, second, third = (held.take_first(ANY) for _ in range(3))
    assert first is not None
    assert second is not None
    assert opaques([first, second]) == [1, 2]
    assert third is None
    assert held.count == 0


def test_a_pop_that_was_given_up_waits_no_longer() -> None:
    held = HeldPops()
    first, second = pop(1), pop(2)
    held.hold(first)
    held.hold(second)
    held.drop(first.request)
    held.drop(first.request)
    assert held.count == 1
    assert held.take_first(ANY) is second
    assert not held.has_topic(b"Orders")


def test_a_message_is_for_who_waits_for_its_queue_or_for_any() -> None:
    held = HeldPops()
    for queue_id in (-1, 0, 1):
        held.hold(pop(queue_id=queue_id))
    held.hold(pop(group="other"))
    held.hold(pop(topic="Else"))
    assert held.keys_for(b"Orders", 1) == [
        ("Orders", "g", -1),
        ("Orders", "g", 1),
        ("Orders", "other", -1),
    ]


def test_a_message_of_the_retry_topic_is_for_all_of_the_group() -> None:
    held = HeldPops()
    held.hold(pop(queue_id=3))
    held.hold(pop(group="other"))
    assert held.has_topic(b"%RETRY%g_Orders")
    assert held.keys_for(b"%RETRY%g_Orders", 0) == [("Orders", "g", 3)]


def test_nobody_is_found_where_nobody_waits_any_more() -> None:
    held = HeldPops()
    held.hold(pop())
    held.take_first(ANY)
    assert not held.has_topic(b"Orders")
    assert not held.has_topic(b"%RETRY%g_Orders")
    assert held.keys_for(b"Orders", 0) == []


def test_who_waited_as_long_as_it_asked_to_is_due() -> None:
    held = HeldPops()
    held.hold(pop(1, deadline_ms=200))
    held.hold(pop(2, deadline_ms=100))
    assert held.next_due_ms() == 100
    assert held.take_due(99) == []
    assert opaques(held.take_due(100)) == [2]
    assert opaques(held.take_due(200)) == [1]
    assert held.next_due_ms() is None


def test_a_connection_that_is_gone_takes_its_pops_with_it() -> None:
    held = HeldPops()
    held.hold(pop(1, channel=1))
    held.hold(pop(2, channel=2))
    held.drop_channel(ChannelId(1))
    assert held.count == 1
    assert held.waiting(ANY) == 1
    assert opaques(held.take_due(100)) == [2]


def test_what_waits_is_bounded_per_key_per_channel_and_in_all() -> None:
    held = HeldPops(HeldPopLimits(per_key=2, per_channel=3, total=4))
    assert held.hold(pop())
    assert held.hold(pop())
    assert not held.hold(pop(channel=2))
    assert held.hold(pop(queue_id=0))
    assert not held.hold(pop(queue_id=1))
    assert held.hold(pop(queue_id=1, channel=2))
    assert not held.hold(pop(queue_id=2, channel=3))
    assert held.count == 4


def test_deadlines_of_pops_that_were_woken_do_not_pile_up() -> None:
    held = HeldPops()
    for _ in range(5_000):
        held.hold(pop(deadline_ms=10_000_000))
        held.take_first(ANY)
    assert len(held._deadlines) <= 1_001
