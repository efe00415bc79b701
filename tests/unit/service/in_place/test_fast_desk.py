from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.service.in_place.fast_desk import FastDesk


def test_a_desk_without_a_broker_takes_nothing() -> None:
    desk = FastDesk()
    assert not desk.is_open(Now(0, 0))
    assert desk.store(ChannelId(1), Now(0, 0)) == -1
    assert desk.ack_bounds("orders", 0, 0) is None
    desk.acknowledge(("orders", "g", 0, 0, 0, "b"), 0, 0, [0], lambda answer: None)
