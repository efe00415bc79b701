from aerobee.model.topic import TopicConfig
from tests.broker_kit import BrokerKit
from tests.once_kit import (
    FENCED,
    FINISH_ROUND,
    FINISHED,
    ORDERS,
    QUEUE,
    SEND_ONCE,
    batch_body,
    finish_round,
    open_task,
    send_rows,
)
from tests.wire import JAVA_FIELDS

EPOCH = 4 << 20
EPOCHS = "store/config/producerEpochs.json"
SEQUENCES = "store/config/producerSequences.json"
ROWS_FIELDS = {**JAVA_FIELDS, "e": str(QUEUE), "i": "", "m": "true", "quiet": "true"}
WHOLE = {"writeId": "w", "topic": "Orders", "roundId": "4"}


def begun() -> BrokerKit:
    """A broker with a row of one task that the disk does not have yet."""
    kit = BrokerKit(ORDERS)
    open_task(kit, "w/0", 4)
    kit.run(6000)
    body = batch_body(4 << 32, [b"a"], producer="w/0", epoch=EPOCH)
    kit.tell(SEND_ONCE, ROWS_FIELDS, body)
    (answer,) = kit.heard()
    assert answer.code == 0
    return kit


def test_it_is_not_on_the_disk_before_the_log_is() -> None:
    kit = begun()
    kit.tell(FINISH_ROUND, WHOLE)
    (answer,) = kit.heard()
    assert answer.code == 0  # nobody waits for the disk
    cut = kit.power_cut()
    assert cut.bodies(queue_id=QUEUE) == []
    assert open_task(cut, "w/0", 4).code == 0
    while b'"w":{' not in kit.disk.read(EPOCHS):
        kit.tick()
        assert kit.worker.run_next()
    cut = kit.power_cut()
    assert cut.bodies(queue_id=QUEUE) == [b"a"]
    assert open_task(cut, "w/0", 4).code == FINISHED


def test_marks_stay_until_it_is_on_the_disk() -> None:
    kit = begun()
    assert finish_round(kit, "w", 4).code == 0
    kit.run(6000)
    assert b"w/0" not in kit.disk.read(SEQUENCES)

    kit = begun()
    kit.tell(FINISH_ROUND, WHOLE)
    killed = kit.killed()  # it is forgotten that it was said
    assert send_rows(killed, "w/0", EPOCH, [b"a"]).ext_fields["duplicate"] == "true"
    assert killed.bodies(queue_id=QUEUE) == [b"a"]


def test_marks_stay_if_it_cannot_be_saved() -> None:
    kit = begun()
    kit.disk.faults.fail_sync("*producerEpochs*")
    assert finish_round(kit, "w", 4).code == 0
    kit.run(6000)
    assert b'"w":{' not in kit.disk.read(EPOCHS)
    cut = kit.power_cut()
    epoch = int(open_task(cut, "w/0", 4).ext_fields["epoch"])
    assert send_rows(cut, "w/0", epoch, [b"a"]).ext_fields["duplicate"] == "true"
    assert cut.bodies(queue_id=QUEUE) == [b"a"]


def test_a_topic_that_is_deleted_is_not_finished_after_a_power_cut_either() -> None:
    kit = BrokerKit(ORDERS, TopicConfig("Other", 4, 4))
    for topic in ("Orders", "Other"):
        assert finish_round(kit, "w", 4, topic).code == 0
    kit.run(100)
    assert kit.ask(215, {"topic": "Orders"}).code == 0
    cut = kit.power_cut()
    assert open_task(cut, "w/0", 4).code == 0
    assert open_task(cut, "w/0", 4, "Other").code == FINISHED


def test_one_task_makes_way_and_its_neighbours_keep_their_marks() -> None:
    kit = BrokerKit(ORDERS)
    for task in range(2):
        open_task(kit, f"w/{task}", 4)
        send_rows(kit, f"w/{task}", EPOCH, [b"%d" % task])
    assert finish_round(kit, "w", 4, task=0, epoch=EPOCH).code == 0
    kit.run(6000)
    saved = kit.disk.read(SEQUENCES)
    assert b"w/0" not in saved
    assert b"w/1" in saved
    assert send_rows(kit, "w/1", EPOCH, [b"1"]).ext_fields["duplicate"] == "true"
    assert send_rows(kit, "w/0", EPOCH, [b"0"]).code == FENCED
