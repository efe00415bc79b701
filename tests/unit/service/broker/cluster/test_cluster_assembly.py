"""The cluster room: registration and routes go to the same name servers."""

from aerobee.ports.service import Dial
from tests.broker_kit import BrokerKit

ADDRESSES = ("10.0.0.8:9876", "10.0.0.9:9876")


def test_every_name_server_is_told() -> None:
    kit = BrokerKit(addresses=ADDRESSES)
    kit.tick()
    asked = {dial.address for dial in kit.dialed if isinstance(dial, Dial)}
    assert asked == set(ADDRESSES)
