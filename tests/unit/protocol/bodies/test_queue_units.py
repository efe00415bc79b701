from aerobee.protocol.bodies.queue_units import (
    NO_FILTER,
    GroupView,
    QueueUnit,
    QueueUnits,
    decode_queue_units,
    encode_queue_units,
)
from aerobee.protocol.bodies.subscription import make_subscription


def test_units_are_written_as_apache_does() -> None:
    assert encode_queue_units(0, 1, [(510, 256, 2598920)], None) == (
        b'{"maxQueueIndex":1,"minQueueIndex":0,"queueData":[{"eval":false,"physicOffset":510,'
        b'"physicSize":256,"tagsCode":2598920}]}'
    )


def test_a_group_is_shown_with_what_it_subscribes_to() -> None:
    view = GroupView(NO_FILTER, make_subscription("T", "*", 1794734374079))
    assert encode_queue_units(0, 2, [], view) == (
        b'{"filterData":"null","maxQueueIndex":2,"minQueueIndex":0,"queueData":[],'
        b'"subscriptionData":{"classFilterMode":false,"codeSet":[],"expressionType":"TAG",'
        b'"subString":"*","subVersion":1794734374079,"tagsSet":[],"topic":"T"}}'
    )


def test_a_group_that_is_not_there_has_no_subscription() -> None:
    assert encode_queue_units(0, 0, [], GroupView("g@T is not online!", None)) == (
        b'{"filterData":"g@T is not online!","maxQueueIndex":0,"minQueueIndex":0,"queueData":[]}'
    )


def test_units_are_read_again() -> None:
    subscription = make_subscription("T", "a", 7)
    view = GroupView(NO_FILTER, subscription)
    body = encode_queue_units(1, 9, [(510, 256, 2598920)], view)
    assert decode_queue_units(body) == QueueUnits(
        1, 9, [QueueUnit(510, 256, 2598920)], subscription
    )
    assert decode_queue_units(encode_queue_units(0, 0, [], None)).subscription is None
