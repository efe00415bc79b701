from aerobee.errors import StoreBusy
from aerobee.protocol.bodies.revive_records import decode_checkpoint
from aerobee.service.broker.pop.take.queue_order import RETRY_FIRST_EVERY
from tests.broker_kit import OTHER
from tests.fast_pop_rig import ShortPopRig
from tests.pop_kit import INVISIBLE_MS, PopKit, got_in
from tests.store_kit import draft

CHECKPOINT_BYTES = 800  # of a record, more or less: one fits, two do not


def test_its_messages_have_a_checkpoint_and_come_back_without_acknowledgement() -> None:
    rig = ShortPopRig(count=8)
    rig.pop()
    got = rig.pop()
    assert got is not None
    rig.kit.finish()
    record = rig.kit.messages("rmq_sys_wheel_timer")[-1]
    checkpoint = decode_checkpoint(record.body)
    assert (checkpoint.start_offset, checkpoint.distances) == (4, (0, 1, 2, 3))
    assert record.properties["POP_TO"] == "8"
    for one in got[:3]:
        assert rig.kit.ack(one) == 0
    rig.kit.run(INVISIBLE_MS + 2_000)
    assert got[3].body in rig.kit.bodies_popped()


def test_queues_take_turns_and_what_is_left_is_told() -> None:
    rig = ShortPopRig(queues=2, count=6)
    rig.pop()
    is_short, answer = rig.ask(maxMsgNums=4)
    assert is_short
    assert answer.ext_fields["msgOffsetInfo"] == "0 1 0,1,2,3"
    assert answer.ext_fields["restNum"] == "4"
    is_short, answer = rig.ask(maxMsgNums=4)
    assert is_short
    assert answer.ext_fields["msgOffsetInfo"] == "0 0 4,5;0 1 4,5"
    assert answer.ext_fields["restNum"] == "0"


def test_a_filter_by_tag_leaves_gaps() -> None:
    rig = ShortPopRig(count=0)
    for number, tag in enumerate("ABABAAB"):
        rig.kit.fill(1, first=number, TAGS=tag)
    said: dict[str, object] = {"exp": "A", "maxMsgNums": 2}
    assert rig.offsets(**said) is None
    assert rig.offsets(**said) == [4, 5]
    assert rig.offsets(**said) is None  # nothing is left


def test_a_filter_by_sql_takes_the_short_way_too() -> None:
    rig = ShortPopRig(count=0)
    for number in range(6):
        rig.kit.fill(1, first=number, a=str(number % 2))
    assert rig.kit.ask(25, body=b"enablePropertyFilter=true\n", channel=OTHER).code == 0
    said: dict[str, object] = {"exp": "a = '1'", "expType": "SQL92", "maxMsgNums": 1}
    assert rig.offsets(**said) is None
    assert rig.offsets(**said) == [3]


def test_high_priorities_come_first_on_the_short_way_too() -> None:
    rig = ShortPopRig(queues=3, count=0)
    rig.kit.rank(3)
    for queue_id in range(3):
        rig.kit.fill(6, queue_id)
    assert rig.offsets() is None
    infos = [rig.ask()[1].ext_fields["msgOffsetInfo"] for _ in range(3)]
    assert infos == ["0 2 4,5;0 1 0,1", "0 1 2,3,4,5", "0 0 0,1,2,3"]
    assert rig.plain.answered == 3


def test_priorities_that_are_turned_round_count_at_once() -> None:
    rig = ShortPopRig(queues=2, count=0)
    rig.kit.rank(2)
    for queue_id in range(2):
        rig.kit.fill(40, queue_id)
    rig.kit.pop(maxMsgNums=32)
    rig.kit.pop(maxMsgNums=32)  # both queues are known
    assert rig.pop() is None
    got = rig.pop()
    assert got is not None
    rig.kit.fill(8, 1, first=40)
    assert [one.message.queue_id for one in rig.pop() or []] == [1] * 4
    assert rig.kit.ask(25, body=b"priorityOrderAsc=false\n", channel=OTHER).code == 0
    _, answer = rig.ask()
    assert {one.message.queue_id for one in got_in(answer)} == {0}


def test_retries_of_every_queue_keep_a_pop_off_the_short_way() -> None:
    rig = ShortPopRig(queues=2, count=40)
    rig.kit.rank(2)
    assert rig.kit.ask(25, body=b"useSeparateRetryQueue=true\n", channel=OTHER).code == 0
    assert rig.kit.ask(25, body=b"popFromRetryProbabilityForPriority=100\n").code == 0
    rig.kit.pop(maxMsgNums=2, queueId=1, invisibleTime=1_500)
    rig.kit.run(4_000)
    is_short, answer = rig.ask()
    assert not is_short
    assert answer.ext_fields["msgOffsetInfo"].startswith("1 1 0,1;")


def test_what_came_back_takes_the_general_way() -> None:
    rig = ShortPopRig(count=60)
    rig.kit.pop(maxMsgNums=2, invisibleTime=1_500)
    rig.kit.run(4_000)
    ways = [rig.offsets() is not None for _ in range(2 * RETRY_FIRST_EVERY)]
    # All but the one that looks there first, and only as long as something is there.
    assert ways.count(False) == 2
    assert ways[-1]


def test_nothing_to_be_had_is_the_general_handlers_to_answer() -> None:
    rig = ShortPopRig(count=4)
    assert rig.offsets() is None
    is_short, answer = rig.ask()
    assert (is_short, answer.code) == (False, 210)


def test_an_offset_that_an_operator_sets_counts_at_once() -> None:
    rig = ShortPopRig()
    rig.pop()
    reset = {"topic": "Orders", "group": "g", "timestamp": "0", "isForce": "true", "offset": "50"}
    assert rig.kit.ask(222, {**reset, "queueId": "0"}, channel=OTHER).code == 0
    is_short, answer = rig.ask()
    assert (is_short, answer.ext_fields["msgOffsetInfo"]) == (False, "0 0 50,51,52,53")
    assert rig.offsets() == [54, 55, 56, 57]


def test_what_the_store_refuses_is_refused_by_the_general_handler() -> None:
    rig = ShortPopRig()
    rig.pop()
    rig.kit.store.appender.refusal = StoreBusy("the disk is behind")
    rig.kit.tell(200050, rig.kit.fields(maxMsgNums=4))
    (answer,) = rig.kit.heard()
    assert (answer.code, bytes(answer.body)) == (2, b"")
    rig.kit.finish()
    assert rig.offsets() == [4, 5, 6, 7]


def test_a_checkpoint_that_is_refused_after_others_leaves_the_others() -> None:
    rig = ShortPopRig(2, 1)
    assert rig.pop(maxMsgNums=8) is None  # both queues have been popped from now on
    rig.kit.fill(2, 0, first=1)
    rig.kit.fill(2, 1, first=1)
    _leave_room(rig.kit, for_records=1)
    rig.kit.tell(200050, rig.kit.fields(maxMsgNums=8))
    (answer,) = rig.kit.heard()
    assert answer.ext_fields["msgOffsetInfo"] == "0 1 1,2"
    assert len(got_in(answer)) == 2
    rig.kit.disk.capacity_bytes = 1 << 40
    rig.kit.run(2_000)
    _, answer = rig.ask(maxMsgNums=8)
    assert answer.ext_fields["msgOffsetInfo"] == "0 0 1,2"


def _leave_room(kit: PopKit, *, for_records: int) -> None:
    """The last file of the log has room for so many checkpoints, the disk for no other file."""
    kit.disk.capacity_bytes = kit.disk.used_bytes()
    file_bytes = kit.store.config.log_file_bytes
    room = for_records * CHECKPOINT_BYTES
    while (left := file_bytes - kit.store.end_offset % file_bytes) > room:
        body = b"x" * max(0, min(left - room - 200, 4_000))
        kit.store.append(draft(b"Other", 0, body), kit.clock.now().wall_ms)
