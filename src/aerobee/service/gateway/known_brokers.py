"""KnownBrokers: the brokers that routes name, by name and by address.

A broker that name servers no longer name is kept: receipts that it gave out still name it, and it
may come back.
"""

from collections.abc import Iterable

from aerobee.model.route import MASTER_ID, BrokerData, TopicRoute

BROKERS_MAX = 10_000


class KnownBrokers:
    def __init__(self) -> None:
        self._addresses: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def note(self, route: TopicRoute) -> None:
        """Name servers gave this route."""
        for broker in route.brokers:
            address = serving_address(broker)
            if address is not None and (
                broker.name in self._addresses or len(self._addresses) < BROKERS_MAX
            ):
                self._names.pop(self._addresses.get(broker.name, ""), None)
                self._addresses[broker.name] = address
                self._names[address] = broker.name

    def address_of(self, name: str) -> str | None:
        return self._addresses.get(name)

    def name_at(self, address: str) -> str:
        """The name of the broker at an address; empty: it is not known."""
        return self._names.get(address, "")

    def addresses(self) -> Iterable[str]:
        """The address of each broker name."""
        return self._addresses.values()


def serving_address(broker: BrokerData) -> str | None:
    """Where the brokers of a name take requests: at their master, or at the slave that acts for
    it."""
    address = broker.addresses.get(MASTER_ID)
    if address is None and broker.is_acting_enabled and broker.addresses:
        return broker.addresses[min(broker.addresses)]
    return address
