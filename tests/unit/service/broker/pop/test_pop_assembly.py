from dataclasses import replace

from aerobee.model.topic import TopicConfig
from aerobee.ports.disk_worker import Lane
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from tests.broker_kit import CLIENT, OTHER, SYNC
from tests.pop_kit import CONFIG, INVISIBLE_MS, PopKit


def frame_of(code: int, fields: dict[str, str]) -> bytes:
    return b"".join(encode(RemotingCommand(code, ext_fields=fields)))


def test_a_message_that_is_not_acknowledged_comes_back_at_its_time() -> None:
    kit = PopKit()
    kit.fill(2)
    got = kit.pop()
    assert kit.ack(got[0]) == 0
    kit.run(INVISIBLE_MS - 500)
    assert kit.pop() == []
    kit.run(700)
    assert kit.bodies_popped() == [b"m1"]


def test_a_message_comes_back_until_its_group_gives_up() -> None:
    kit = PopKit()
    kit.fill(1)
    times = []
    for _ in range(18):
        got = kit.pop(invisibleTime=1_500)
        times += [one.message.reconsume_times for one in got]
        kit.run(3_000)
    assert times == list(range(17))
    (dead,) = kit.messages("%DLQ%g")
    assert (dead.body, dead.properties["RETRY_TOPIC"]) == (b"m0", "Orders")
    assert kit.pop() == []


def test_acknowledgements_of_one_read_share_a_record() -> None:
    kit = PopKit()
    kit.fill(20)
    got = kit.pop()
    kit.ack(got[0])  # from the first one the short way is learned
    before = kit.store.queue(b"rmq_sys_wheel_timer", 0)
    assert before is not None
    count = before.next_offset
    frames = b"".join(frame_of(200051, kit.ack_fields(one)) for one in got)
    kit.send_frames(frames)
    kit.finish()
    assert [answer.code for answer in kit.heard()] == [0] * 20
    assert before.next_offset == count + 1


def test_with_synchronous_flush_an_acknowledgement_waits_for_the_disk() -> None:
    kit = PopKit(storage=SYNC)
    kit.fill(1)
    got = kit.pop()
    kit.tell(200051, kit.ack_fields(got[0]))
    assert kit.heard() == []
    kit.finish()
    assert [answer.code for answer in kit.heard()] == [0]


def test_the_offset_follows_when_the_log_is_on_the_disk() -> None:
    kit = PopKit()
    kit.fill(2)
    kit.tell(200050, kit.fields())
    assert len(kit.answered()) == 1
    picture = kit.ask(14, {"consumerGroup": "g", "topic": "Orders", "queueId": "0"})
    assert picture.ext_fields["offset"] in ("0", "2")
    kit.run(1_000)
    assert kit.committed() == 2


def test_a_clean_stop_leaves_nothing_to_be_handed_out_twice() -> None:
    kit = PopKit()
    kit.fill(3)
    got = kit.pop()
    for one in got[:2]:
        assert kit.ack(one) == 0
    kit = kit.after_stop()
    assert kit.pop() == []
    kit.run(INVISIBLE_MS + 3_000)
    assert kit.bodies_popped() == [b"m2"]


def test_a_connection_that_closes_takes_its_pops_with_it() -> None:
    kit = PopKit()
    kit.wait_for_pop(OTHER)
    kit.close(OTHER)
    kit.open(OTHER)
    kit.fill(1)
    assert kit.heard(OTHER) == []
    assert kit.bodies_popped() == [b"m0"]


def test_messages_that_are_popped_are_counted_as_handed_out() -> None:
    kit = PopKit()
    kit.fill(3)
    kit.pop()
    kit.run(1_000)
    answer = kit.ask(28)
    assert b'"msgGetTotalTodayNow":"3"' in bytes(answer.body)


def test_without_the_timer_nothing_is_popped() -> None:
    kit = PopKit(config=replace(CONFIG, keeps_timers=False))
    kit.fill(1)
    answer = kit.ask(200050, kit.fields(), channel=CLIENT)
    assert (answer.code, "timerWheelEnable" in answer.remark) == (1, True)


def test_pops_of_a_deleted_topic_change_nothing_in_the_next_of_its_name() -> None:
    """Neither its position, nor its checkpoints."""
    kit = PopKit()
    kit.fill(5)
    kit.tell(200050, kit.fields())
    assert kit.answered() == [[b"m0", b"m1", b"m2", b"m3", b"m4"]]
    kit.tell(215, {"topic": "Orders"})
    while not kit.heard():  # no time passes: what was popped waits for the log to be on the disk
        assert kit.worker.run_next(Lane.BACKGROUND)
        kit.tick()
    assert kit.store.flushed_offset < kit.store.end_offset
    kit.make_topic(TopicConfig("Orders", 1, 1))
    kit.fill(3, first=10)
    assert kit.bodies_popped() == [b"m10", b"m11", b"m12"]
    kit.run(1_000)
    assert kit.committed() == 3
    assert kit.pop() == []
    kit.run(INVISIBLE_MS + 2_000)
    assert sorted(kit.bodies_popped()) == [b"m10", b"m11", b"m12"], "each once"


def test_a_deleted_topic_that_was_popped_in_order_blocks_nobody() -> None:
    kit = PopKit()
    kit.fill(2)
    assert kit.bodies_popped(order="true") == [b"m0", b"m1"]
    assert kit.ask(215, {"topic": "Orders"}).code == 0
    kit.make_topic(TopicConfig("Orders", 1, 1))
    kit.fill(1, first=10)
    assert kit.bodies_popped(order="true") == [b"m10"]
