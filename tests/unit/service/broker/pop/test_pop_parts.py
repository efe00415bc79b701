import pytest

from aerobee.errors import CorruptFile
from aerobee.model.topic import TopicConfig
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


def test_a_process_that_was_killed_after_a_deletion_leaves_no_block_for_the_new_topic() -> None:
    kit = PopKit()
    kit.fill(3)
    assert len(kit.pop(order="true", invisibleTime=600_000)) == 3
    kit.run(6_000)  # saved by now
    assert kit.ask(215, {"topic": "Orders"}).code == 0
    kit.make_topic(TopicConfig("Orders", 1, 1))
    kit.fill(4, first=10)
    after = PopKit(disk=kit.disk.kill(), clock=kit.clock)
    assert after.bodies_popped(order="true") == [b"m10", b"m11", b"m12", b"m13"]
