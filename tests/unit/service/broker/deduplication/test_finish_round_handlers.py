import pytest

from aerobee.model.topic import TopicConfig
from tests.broker_kit import BrokerKit
from tests.once_kit import (
    FENCED,
    FINISHED,
    ORDERS,
    QUEUE,
    TOO_MANY,
    finish_round,
    open_task,
    send_rows,
)

EPOCH = 4 << 20


def test_a_write_that_is_finished_is_neither_opened_nor_sent_again() -> None:
    kit = BrokerKit(ORDERS)
    assert open_task(kit, "w/0", 4).code == 0
    assert send_rows(kit, "w/0", EPOCH, [b"a", b"b"]).code == 0
    assert finish_round(kit, "w", 4).code == 0
    assert send_rows(kit, "w/0", EPOCH, [b"a", b"b"]).code == FENCED  # at once
    kit.run(100)
    assert send_rows(kit, "w/0", EPOCH, [b"a", b"b"]).code == FENCED
    refused = open_task(kit, "w/0", 4)
    assert refused.code == FINISHED
    assert refused.remark == "all that round 4 of 'w/0' has for Orders is stored"
    assert open_task(kit, "w/9", 4).code == FINISHED
    assert open_task(kit, "w/0", 3).code == FENCED
    assert kit.bodies(queue_id=QUEUE) == [b"a", b"b"]


def test_it_may_be_said_twice_and_in_the_next_round() -> None:
    kit = BrokerKit(ORDERS)
    for round_id in (4, 4, 5, 4):
        assert finish_round(kit, "w", round_id).code == 0
        kit.run(100)
    assert open_task(kit, "w/0", 5).code == FINISHED
    assert open_task(kit, "w/0", 4).code == FENCED
    assert open_task(kit, "w/0", 6).code == 0
    assert finish_round(kit, "w", 5).code == 0
    kit.run(100)
    assert send_rows(kit, "w/0", 6 << 20, [b"a"]).code == 0


def test_another_topic_of_the_same_round_is_not_finished() -> None:
    kit = BrokerKit(ORDERS, TopicConfig("Other", 4, 4))
    open_task(kit, "w/0", 4, "Other")
    finish_round(kit, "w", 4, "Other")
    kit.run(100)
    opened = open_task(kit, "w/0", 4)
    epoch = int(opened.ext_fields["epoch"])
    assert (opened.code, epoch >> 20) == (0, 4)
    assert epoch > EPOCH  # whoever sent to the other topic has another
    assert send_rows(kit, "w/0", epoch, [b"a"]).code == 0


def test_a_task_that_is_through_is_not_done_again_and_the_others_go_on() -> None:
    kit = BrokerKit(ORDERS)
    for task in range(2):
        open_task(kit, f"w/{task}", 4)
        send_rows(kit, f"w/{task}", EPOCH, [b"a%d" % task])
    said = finish_round(kit, "w", 4, task=0, epoch=EPOCH)
    assert (said.code, said.ext_fields) == (0, {"epoch": str(EPOCH + 1)})
    assert finish_round(kit, "w", 4, task=0, epoch=EPOCH).code == 0
    kit.run(100)
    assert finish_round(kit, "w", 4, task=0, epoch=EPOCH).code == 0
    assert send_rows(kit, "w/0", EPOCH, [b"a0"]).code == FENCED
    assert open_task(kit, "w/0", 4).code == FINISHED
    assert send_rows(kit, "w/1", EPOCH, [b"b1"], start=1).code == 0
    assert kit.bodies(queue_id=QUEUE) == [b"a0", b"a1", b"b1"]


def test_a_task_goes_on_with_the_epoch_that_it_is_told_until_all_its_topics_are_through() -> None:
    kit = BrokerKit(ORDERS, TopicConfig("Other", 4, 4))
    open_task(kit, "w/0", 4)
    kit.ask(28003, {"producerId": "w/0", "topic": "Other", "roundId": "4", "epoch": str(EPOCH)})
    send_rows(kit, "w/0", EPOCH, [b"a"])
    first = finish_round(kit, "w", 4, task=0, epoch=EPOCH)
    kit.run(100)
    assert send_rows(kit, "w/0", EPOCH, [b"a"]).code == FENCED
    assert finish_round(kit, "w", 4, "Other", task=0, epoch=EPOCH).code == FENCED
    epoch = int(first.ext_fields["epoch"])
    assert finish_round(kit, "w", 4, "Other", task=0, epoch=epoch).code == 0
    kit.run(100)
    assert send_rows(kit, "w/0", epoch, [b"a"]).code == FENCED
    assert open_task(kit, "w/0", 4, "Other").code == FINISHED


def test_a_task_that_was_succeeded_is_not_believed() -> None:
    kit = BrokerKit(ORDERS)
    open_task(kit, "w/0", 4)
    open_task(kit, "w/0", 4)
    assert finish_round(kit, "w", 4, task=0, epoch=EPOCH).code == FENCED
    assert finish_round(kit, "w", 5, task=0, epoch=EPOCH + 1).code == FENCED
    assert finish_round(kit, "w", 4, task=1, epoch=EPOCH).code == FENCED
    assert send_rows(kit, "w/0", EPOCH + 1, [b"a"]).code == 0


@pytest.mark.parametrize(
    ("write_id", "round_id", "topic", "more"),
    [
        ("", 4, "Orders", {}),
        ("a b", 4, "Orders", {}),
        ("w" * 119, 4, "Orders", {}),
        ("w", -1, "Orders", {}),
        ("w", 1 << 30, "Orders", {}),
        ("w", 4, "", {}),
        ("w", 4, "x" * 256, {}),
        ("w", 4, "Orders", {"task": -1}),
        ("w", 4, "Orders", {"task": 1_000_000_000}),
    ],
)
def test_what_cannot_be_is_refused(
    write_id: str, round_id: int, topic: str, more: dict[str, int]
) -> None:
    assert finish_round(BrokerKit(ORDERS), write_id, round_id, topic, **more).code == 29


def test_it_is_known_after_a_stop_and_its_marks_do_not_come_back() -> None:
    kit = BrokerKit(ORDERS)
    open_task(kit, "w/0", 4)
    send_rows(kit, "w/0", EPOCH, [b"a"])
    finish_round(kit, "w", 4)
    kit.run(100)
    for again in (kit.killed(), kit.power_cut()):
        assert open_task(again, "w/0", 4).code == FINISHED
        assert send_rows(again, "w/0", EPOCH, [b"a"]).code == FENCED
        assert again.bodies(queue_id=QUEUE) == [b"a"]
        assert open_task(again, "v/0", 4).code == 0
        again.run(6_000)
        saved = again.disk.read("store/config/producerSequences.json")
        assert b"v/0" in saved
        assert b"w/0" not in saved


def test_of_a_deleted_topic_nothing_is_finished_after_a_stop_either() -> None:
    kit = BrokerKit(ORDERS)
    finish_round(kit, "w", 4)
    kit.run(100)
    kit.ask(215, {"topic": "Orders"})
    kit.run(100)
    assert open_task(kit, "w/0", 4).code == 0
    assert open_task(kit.power_cut(), "w/1", 4).code == 0


def test_tasks_that_are_through_make_room_for_any_number_of_others() -> None:
    kit = BrokerKit(TopicConfig("Wide", 1000, 1000))
    epochs = {}
    for task in range(10):
        answer = open_task(kit, f"w/{task}", 4, "Wide")
        assert (answer.code, answer.ext_fields.get("finish")) == (0, "true" if task > 1 else None)
        epochs[task] = int(answer.ext_fields["epoch"])
    for task in range(10, 40):
        refused = open_task(kit, f"w/{task}", 4, "Wide")
        assert (refused.code, refused.ext_fields) == (TOO_MANY, {"wait": "true"})
        through = task - 8
        assert finish_round(kit, "w", 4, "Wide", task=through, epoch=epochs[through]).code == 0
        kit.run(100)
        answer = open_task(kit, f"w/{task}", 4, "Wide")
        assert (answer.code, answer.ext_fields["finish"]) == (0, "true")
        epochs[task] = int(answer.ext_fields["epoch"])


def test_what_there_will_never_be_room_for_is_not_waited_for() -> None:
    wide = [TopicConfig(f"Wide{number}", 1000, 1000) for number in range(11)]
    kit = BrokerKit(*wide)
    answers = [open_task(kit, "w/0", 4, topic.name) for topic in wide]
    assert [answer.code for answer in answers] == 10 * [0] + [TOO_MANY]
    assert answers[-1].ext_fields == {"wait": "false"}
