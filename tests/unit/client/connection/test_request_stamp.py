"""Unit tests of the stamps that a client writes: a server takes each of them once."""

from aerobee.client.connection.request_stamp import StampCounter
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.service.access.request_stamps import RequestStamps

NOW = Now(1_800_000_000_000, 1_000)


def test_a_server_takes_each_stamp_once() -> None:
    server = RequestStamps()
    for channel in (ChannelId(1), ChannelId(2)):
        counter = StampCounter()
        for code in (310, 11):
            stamp = counter.next(code, NOW.wall_ms)
            assert server.find_fault(stamp, code, channel, NOW) is None
            assert server.find_fault(stamp, code, channel, NOW) is not None
