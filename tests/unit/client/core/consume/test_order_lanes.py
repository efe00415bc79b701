from aerobee.client.core.consume.order_lanes import OrderLanes


def test_of_a_lane_one_is_out_at_a_time_and_in_order() -> None:
    lanes: OrderLanes[int] = OrderLanes()
    assert lanes.enter("a", 1)
    assert not lanes.enter("a", 2)
    assert not lanes.enter("a", 3)
    assert lanes.enter("b", 4)
    assert [lanes.leave("a"), lanes.leave("a"), lanes.leave("a")] == [2, 3, None]
    assert lanes.enter("a", 5)


def test_a_lane_that_was_dropped_is_as_new() -> None:
    lanes: OrderLanes[int] = OrderLanes()
    for number in range(3):
        lanes.enter("a", number)
    lanes.enter("b", 9)
    assert lanes.drop(lambda lane: lane == "a") == [1, 2]
    assert lanes.leave("a") is None
    assert lanes.enter("a", 7)
    assert not lanes.enter("b", 8)
