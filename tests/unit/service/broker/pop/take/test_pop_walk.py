from dataclasses import replace

import pytest

from aerobee.protocol.bodies.revive_records import decode_checkpoint
from tests.broker_kit import STORAGE
from tests.pop_kit import CONFIG, INVISIBLE_MS, PopKit
from tests.store_kit import draft, properties


def checkpoints(kit: PopKit) -> list[tuple[int, tuple[int, ...]]]:
    """Start and distances of every checkpoint, whether it waits in the timer or not."""
    found = []
    for topic, queues in (("rmq_sys_wheel_timer", 1), ("rmq_sys_REVIVE_LOG_DefaultCluster", 8)):
        for queue_id in range(queues):
            for one in kit.messages(topic, queue_id):
                if one.tag == "ck":
                    checkpoint = decode_checkpoint(one.body)
                    found.append((checkpoint.start_offset, checkpoint.distances))
    return found


def test_messages_are_handed_out_once_and_logged_before() -> None:
    kit = PopKit()
    kit.fill(5)
    assert kit.bodies_popped(maxMsgNums=3) == [b"m0", b"m1", b"m2"]
    assert kit.bodies_popped() == [b"m3", b"m4"]
    assert kit.bodies_popped() == []
    assert checkpoints(kit) == [(0, (0, 1, 2)), (3, (0, 1))]


def test_the_queues_of_a_topic_are_popped_in_turn() -> None:
    kit = PopKit(queues=3)
    for queue_id in range(3):
        kit.fill(2, queue_id, first=10 * queue_id)
    assert kit.bodies_popped(maxMsgNums=2) == [b"m0", b"m1"]
    assert kit.bodies_popped(maxMsgNums=2) == [b"m10", b"m11"]
    assert kit.bodies_popped(maxMsgNums=32) == [b"m20", b"m21"]


def test_a_queue_can_be_asked_for() -> None:
    kit = PopKit(queues=2)
    kit.fill(1, 0)
    kit.fill(1, 1, first=1)
    assert kit.bodies_popped(queueId=1) == [b"m1"]
    assert kit.bodies_popped(queueId=1) == []


def test_groups_do_not_take_from_each_other() -> None:
    kit = PopKit()
    kit.fill(2)
    assert kit.bodies_popped() == [b"m0", b"m1"]
    assert kit.bodies_popped(consumerGroup="h") == [b"m0", b"m1"]


def test_how_much_is_left_is_told() -> None:
    kit = PopKit()
    kit.fill(5)
    answer = kit.ask(200050, kit.fields(maxMsgNums=2))
    assert answer.ext_fields["restNum"] == "3"


def test_what_a_filter_keeps_back_is_passed_for_good() -> None:
    kit = PopKit()
    kit.fill(2, TAGS="A")
    kit.fill(1, first=2, TAGS="B")
    kit.fill(1, first=3, TAGS="A")
    kit.fill(1, first=4, TAGS="B")
    assert kit.bodies_popped(exp="B") == [b"m2", b"m4"]
    kit.run(1_000)
    assert kit.committed() == 5
    assert checkpoints(kit) == [(2, (0, 2))]


def test_a_filter_that_nothing_passes_moves_the_group_without_a_checkpoint() -> None:
    kit = PopKit()
    kit.fill(3, TAGS="A")
    assert kit.bodies_popped(exp="B") == []
    assert kit.committed() == 3
    assert checkpoints(kit) == []


def test_an_sql_filter_chooses_by_properties() -> None:
    kit = PopKit()
    for number in range(4):
        kit.fill(1, first=number, weight=str(number))
    assert kit.bodies_popped(expType="SQL92", exp="weight > 1") == [b"m2", b"m3"]


def test_a_new_group_begins_where_it_asks_to() -> None:
    kit = PopKit()
    kit.fill(3)
    assert kit.bodies_popped(consumerGroup="min", initMode=0) == [b"m0", b"m1", b"m2"]
    # A queue that still has its first message, and that recent, is read from there.
    assert kit.bodies_popped(consumerGroup="max", initMode=1) == [b"m0", b"m1", b"m2"]


def test_an_operator_sends_a_group_back() -> None:
    kit = PopKit()
    kit.fill(3)
    assert len(kit.pop()) == 3
    fields = {"group": "g", "topic": "Orders", "timestamp": "0", "isForce": "true"}
    assert kit.ask(222, fields).code == 0
    assert kit.bodies_popped() == [b"m0", b"m1", b"m2"]


def test_every_fifth_pop_looks_at_what_came_back_first() -> None:
    kit = PopKit()
    kit.fill(1)
    kit.pop()
    kit.run(INVISIBLE_MS + 2_000)
    kit.fill(10, first=1)
    found = [kit.bodies_popped(maxMsgNums=1) for _ in range(5)]
    assert [b"m0"] in found
    assert found.count([b"m0"]) == 1


def test_a_message_that_came_back_has_its_own_topic_and_its_receipt() -> None:
    kit = PopKit()
    kit.fill(1, TAGS="A")
    kit.pop()
    kit.run(INVISIBLE_MS + 2_000)
    (again,) = kit.pop()
    assert again.message.topic == "Orders"
    assert again.topic == "%RETRY%g_Orders"
    assert again.message.reconsume_times == 1
    assert again.message.tag == "A"


def test_peeking_changes_nothing() -> None:
    kit = PopKit()
    kit.fill(3)
    fields = {"consumerGroup": "g", "topic": "Orders", "queueId": "-1", "maxMsgNums": "2"}
    for _ in range(2):
        answer = kit.ask(200052, fields)
        assert (answer.code, answer.ext_fields["restNum"]) == (0, "1")
    assert kit.bodies_popped() == [b"m0", b"m1", b"m2"]
    assert kit.ask(200052, fields).code == 19


@pytest.mark.parametrize("queues", [1, 3])
def test_ordered_pops_hand_out_nothing_behind_what_is_not_acknowledged(queues: int) -> None:
    kit = PopKit(queues=queues)
    kit.fill(3)
    got = kit.pop(order="true", maxMsgNums=1)
    assert [one.body for one in got] == [b"m0"]
    assert got[0].receipt.revive_queue == 999
    assert kit.pop(order="true", maxMsgNums=1) == []
    assert checkpoints(kit) == []
    assert kit.ack(got[0]) == 0
    assert kit.bodies_popped(order="true", maxMsgNums=1) == [b"m1"]


def test_ordered_pops_come_again_in_order_when_their_time_is_over() -> None:
    kit = PopKit()
    kit.fill(3)
    kit.pop(order="true", maxMsgNums=2)
    kit.run(INVISIBLE_MS)
    answer = kit.ask(200050, kit.fields(order="true", maxMsgNums=2))
    assert answer.ext_fields["msgOffsetInfo"] == "0 0 0,1"
    assert answer.ext_fields["orderCountInfo"] == "0 qo0%0 1;0 qo0%1 1;0 0 1"


def test_the_same_attempt_has_the_same_messages_again() -> None:
    kit = PopKit()
    kit.fill(3)
    first = kit.pop(order="true", maxMsgNums=2, attemptId="a")
    again = kit.pop(order="true", maxMsgNums=2, attemptId="a")
    assert [one.body for one in first] == [one.body for one in again] == [b"m0", b"m1"]
    assert kit.pop(order="true", maxMsgNums=2, attemptId="b") == []


def test_what_is_popped_is_counted_for_its_group_and_topic() -> None:
    kit = PopKit()
    kit.fill(3)
    kit.pop()
    found = {
        metric.name: [(dict(one.labels), one.value) for one in metric.samples]
        for metric in kit.broker.watch.metrics(kit.clock.now())
    }
    ((labels, count),) = found["rocketmq_messages_out_total"]
    assert (labels["topic"], labels["consumer_group"], count) == ("Orders", "g", 3)
    ((_, size),) = found["rocketmq_throughput_out_total"]
    assert size == sum(map(len, kit.store.read(b"Orders", 0, 0, 32, 1 << 20).slices))


def test_of_a_compacted_topic_what_was_kept_is_popped_and_gaps_are_passed() -> None:
    storage = replace(STORAGE, log_file_bytes=1 << 13, compaction_interval_ms=1000)
    kit = PopKit(storage=storage)
    kit.store.compaction.set(b"Orders", True)
    for number in range(9):
        text = properties(KEYS=f"k{number % 3}")
        kit.store.append(draft(b"Orders", 0, b"m%d" % number, text), kit.clock.now().wall_ms)
    for _ in range(20):
        kit.store.append(draft(b"Filler", 0, bytes(900)), kit.clock.now().wall_ms)
    kit.run(20_000)
    assert [got.body for got in kit.pop(maxMsgNums=2)] == [b"m6", b"m7"]
    got = kit.pop(maxMsgNums=9)
    assert [one.body for one in got] == [b"m8"]
    assert kit.ack(got[0]) == 0
    assert kit.pop(maxMsgNums=9) == []


# Priorities.


def ranked(**changes: object) -> PopKit:
    """A broker with messages m0 to m3, each of the priority of its number."""
    kit = PopKit(queues=4, config=replace(CONFIG, **changes))  # type: ignore[arg-type]
    kit.rank()
    for queue_id in range(4):
        kit.fill(1, queue_id, first=queue_id)
    return kit


@pytest.mark.parametrize("rises", [True, False])
@pytest.mark.parametrize("count", [1, 3])
def test_high_priorities_are_handed_out_first(rises: bool, count: int) -> None:
    kit = ranked(priority_rises=rises)
    expected = [b"m3", b"m2", b"m1", b"m0"] if rises else [b"m0", b"m1", b"m2", b"m3"]
    found = [body for _ in range(4) for body in kit.bodies_popped(maxMsgNums=count)]
    assert found == expected


def test_which_end_is_the_highest_can_be_changed_while_the_broker_runs() -> None:
    kit = ranked()
    for queue_id in range(4):
        kit.fill(9, queue_id, first=10 * queue_id)
    assert [kit.pop(maxMsgNums=1)[0].message.queue_id for _ in range(3)] == [3, 3, 3]
    assert kit.ask(25, body=b"priorityOrderAsc=false\n").code == 0
    assert [kit.pop(maxMsgNums=1)[0].message.queue_id for _ in range(3)] == [0, 0, 0]


def test_a_group_with_the_factor_0_takes_queues_in_turn() -> None:
    kit = ranked()
    kit.rank(factor=0)
    for queue_id in range(4):
        kit.fill(20, queue_id)
    found = [int(kit.pop(maxMsgNums=1)[0].message.queue_id) for _ in range(40)]
    assert [found.count(queue_id) for queue_id in range(4)] == [10, 10, 10, 10]


def test_low_priorities_do_not_starve_if_the_factor_is_below_100() -> None:
    kit = ranked()
    kit.rank(factor=90)
    kit.fill(300, 3)
    found = [int(kit.pop(maxMsgNums=1)[0].message.queue_id) for _ in range(200)]
    assert set(found) == {0, 1, 2, 3}
    assert found.count(3) > 180


def test_ordered_pops_know_no_priority() -> None:
    kit = ranked()
    found = {tuple(kit.bodies_popped(order="true", maxMsgNums=1)) for _ in range(4)}
    assert found == {(b"m0",), (b"m1",), (b"m2",), (b"m3",)}


def test_what_comes_again_is_the_last_of_all_by_default() -> None:
    kit = ranked()
    assert kit.bodies_popped(maxMsgNums=1) == [b"m3"]
    kit.run(INVISIBLE_MS + 2_000)
    kit.fill(5, 0, first=10)
    found = [one for _ in range(9) for one in kit.pop(maxMsgNums=1)]
    assert len(found) == 9
    assert found[-1].body == b"m3"
    assert found[-1].message.reconsume_times == 1


def test_what_comes_again_is_the_first_of_all_where_it_is_so_set() -> None:
    kit = ranked(retry_first_percent=100)
    assert kit.bodies_popped(maxMsgNums=1, invisibleTime=1_000) == [b"m3"]
    kit.run(3_000)
    assert kit.bodies_popped(maxMsgNums=32) == [b"m3", b"m2", b"m1", b"m0"]


@pytest.mark.parametrize("rises", [True, False])
def test_separated_retries_keep_their_priority(rises: bool) -> None:
    kit = ranked(retry_first_percent=100, separates_retries=True, priority_rises=rises)
    assert len(kit.pop(invisibleTime=1_000)) == 4
    kit.run(3_000)
    again = kit.pop()
    expected = [3, 2, 1, 0] if rises else [0, 1, 2, 3]
    assert [one.message.queue_id for one in again] == expected
    assert [one.message.queue_offset for one in again] == [0, 0, 0, 0]
    assert {one.message.reconsume_times for one in again} == {1}
    assert [kit.ack(one) for one in again] == [0, 0, 0, 0]
    kit.run(INVISIBLE_MS + 3_000)
    assert kit.pop() == []


def test_separated_retries_are_found_after_the_topic_got_more_queues() -> None:
    kit = ranked(separates_retries=True)
    kit.pop(invisibleTime=1_000)
    kit.run(3_000)
    kit.rank(8)
    for queue_id in range(4, 8):
        kit.fill(1, queue_id, first=queue_id)
    assert kit.bodies_popped(invisibleTime=1_000) == [b"m%d" % n for n in range(7, -1, -1)]
    kit.run(4_000)
    again = kit.pop()
    assert [one.message.queue_id for one in again] == [7, 6, 5, 4, 3, 2, 1, 0]
    assert [one.message.reconsume_times for one in again] == [1, 1, 1, 1, 2, 2, 2, 2]


def test_retries_in_other_queues_are_found_when_they_are_not_separated_any_more() -> None:
    kit = ranked(separates_retries=True)
    kit.pop(invisibleTime=1_000)
    kit.run(3_000)
    assert kit.ask(25, body=b"useSeparateRetryQueue=false\n").code == 0
    assert kit.bodies_popped(invisibleTime=1_000) == [b"m3", b"m2", b"m1", b"m0"]
    kit.run(3_000)
    again = kit.pop()
    assert {one.message.queue_id for one in again} == {0}
    assert len(again) == 4


def test_a_high_priority_on_the_disk_is_waited_for_rather_than_passed_by_a_low_one() -> None:
    kit = PopKit(queues=2, storage=replace(STORAGE, log_file_bytes=1 << 13))
    kit.rank(2)
    kit.fill(1, 1, first=1)
    for _ in range(20):
        kit.store.append(draft(b"Filler", 0, bytes(900)), kit.clock.now().wall_ms)
    kit.fill(1, 0)
    kit = kit.after_stop()
    kit.disk.faults.make_cold("*commitlog/00000000000000000000")
    kit.tell(200050, kit.fields(maxMsgNums=1))
    assert kit.heard() == []
    kit.finish()
    assert kit.answered() == [[b"m1"]]
    assert kit.bodies_popped() == [b"m0"]
