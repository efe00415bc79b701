"""The parts of a broker stand on the same files and count in the same place."""

import pytest

from aerobee.errors import CorruptFile
from aerobee.model.topic import TopicConfig
from tests.broker_kit import BrokerKit
from tests.pop_kit import PopKit
from tests.store_kit import ROOT

ORDERS = TopicConfig("Orders", 4, 4)


@pytest.mark.parametrize(
    "name", ["topics", "subscriptionGroup", "consumerOffset", "delayOffset", "consumerFilter"]
)
def test_a_file_that_cannot_be_believed_stops_the_start(name: str) -> None:
    kit = BrokerKit(ORDERS)
    kit.stop()
    path = f"{ROOT}/config/{name}.json"
    kit.disk.replace(path, b"{nonsense")
    kit.disk.replace(f"{path}.bak", b"")
    with pytest.raises(CorruptFile, match=name):
        BrokerKit(disk=kit.disk)


def test_what_is_popped_counts_as_handed_out() -> None:
    kit = PopKit()
    kit.fill(3)
    assert len(kit.pop()) == 3
    runtime = kit.ask(28)
    assert b'"msgGetTotalTodayNow":"3"' in bytes(runtime.body)
