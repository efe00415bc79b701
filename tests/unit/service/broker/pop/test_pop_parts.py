import pytest

from aerobee.errors import CorruptFile
from tests.pop_kit import REVIVE_TOPIC, PopKit


def test_there_are_as_many_revive_queues_as_the_topic_has() -> None:
    kit = PopKit()
    kit.fill(10)
    queues = {got.receipt.revive_queue for _ in range(10) for got in kit.pop(maxMsgNums=1)}
    assert queues == set(range(8))
    assert kit.ask(351, {"topic": REVIVE_TOPIC}).code == 0


@pytest.mark.parametrize("name", ["consumerOrderInfo.json", "messageRequestMode.json"])
def test_a_file_that_cannot_be_believed_stops_the_start_by_its_name(name: str) -> None:
    kit = PopKit()
    kit.stop()
    path = f"{kit.store.root}/config/{name}"
    kit.disk.replace(path, b"{")
    with pytest.raises(CorruptFile, match=name):
        PopKit(disk=kit.disk, clock=kit.clock)
