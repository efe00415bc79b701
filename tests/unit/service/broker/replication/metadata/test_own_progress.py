import pytest

from aerobee.errors import CorruptFile
from aerobee.model.topic import DataVersion
from aerobee.service.broker.replication.metadata.own_progress import fit_to_log, timer_version
from aerobee.storage.timer.timer_checkpoint import Seal, TimerCheck, decode_check, encode_check
from tests.store_kit import ROOT, StoreKit, draft

CONFIG = f"{ROOT}/config"
CHECK = TimerCheck(1_000_000, 5_200, 7, 7, 0, 99, 3)


def store_with(**messages: int) -> StoreKit:
    """A store with so many messages in queue 0 of these topics."""
    kit = StoreKit()
    for topic, count in messages.items():
        kit.append_many(count, topic.encode(), 0)
    kit.settle()
    return kit


def put(kit: StoreKit, name: str, content: bytes) -> None:
    kit.disk.replace(f"{CONFIG}/{name}", content)


@pytest.mark.parametrize(("count", "taken_in"), [(9, 7), (4, 4), (0, 0)])
@pytest.mark.parametrize("seal", [None, Seal(1_000, 20_000, 64)])
def test_the_timers_wheel_is_not_used_again(count: int, taken_in: int, seal: Seal | None) -> None:
    kit = store_with(rmq_sys_wheel_timer=count)
    put(kit, "timercheck", encode_check(CHECK, seal))
    fit_to_log(kit.store, kit.disk)
    fitted = CHECK._replace(log_end=0, queue_offset=0, master_queue_offset=taken_in)
    assert decode_check(kit.disk.read(f"{CONFIG}/timercheck")) == (fitted, None)
    assert timer_version(kit.store, kit.disk) == DataVersion(0, 3, 99)


def test_offsets_of_delay_levels_are_cut_to_the_ends_of_their_queues() -> None:
    kit = store_with(SCHEDULE_TOPIC_XXXX=4)
    kit.append(draft(b"SCHEDULE_TOPIC_XXXX", 2))
    kit.settle()
    put(kit, "delayOffset.json", b'{"dataVersion":{"counter":6},"offsetTable":{1:9,2:3,3:1}}')
    fit_to_log(kit.store, kit.disk)
    content = kit.disk.read(f"{CONFIG}/delayOffset.json")
    assert b"1:4,\n\t\t2:0,\n\t\t3:1" in content
    assert b'"counter":6' in content


def test_sequences_that_are_ahead_of_the_log_are_read_from_it_again() -> None:
    kit = store_with(Orders=3)
    end = kit.store.end_offset
    put(kit, "producerSequences.json", b'{"logOffset":%d}' % end)
    fit_to_log(kit.store, kit.disk)
    assert kit.disk.exists(f"{CONFIG}/producerSequences.json")
    put(kit, "producerSequences.json", b'{"logOffset":%d}' % (end + 1))
    put(kit, "producerSequences.json.bak", b'{"logOffset":0}')
    fit_to_log(kit.store, kit.disk)
    assert not kit.disk.exists(f"{CONFIG}/producerSequences.json")
    assert not kit.disk.exists(f"{CONFIG}/producerSequences.json.bak")


def test_rounds_of_batches_that_were_cut_are_not_published() -> None:
    kit = store_with(Orders=3)
    end = kit.store.end_offset
    put(
        kit,
        "stagedRounds.json",
        b'{"writes":{"a":{"roundId":1,"places":[0,%d]},"b":{"roundId":2,"places":[0]},'
        b'"c":{"roundId":3,"places":[],"isDone":true}}}' % end,
    )
    fit_to_log(kit.store, kit.disk)
    content = kit.disk.read(f"{CONFIG}/stagedRounds.json")
    assert (b'"a"' in content, b'"b"' in content, b'"c"' in content) == (False, True, True)


def test_files_that_fit_are_left_alone() -> None:
    kit = store_with(rmq_sys_wheel_timer=9, SCHEDULE_TOPIC_XXXX=4)
    slaves = CHECK._replace(log_end=0, queue_offset=0)
    files = {
        "timercheck": encode_check(slaves, None),
        "delayOffset.json": b'{"offsetTable":{1:4}}',
        "producerSequences.json": b'{"logOffset":5}',
        "stagedRounds.json": b'{"writes":{"b":{"roundId":2,"places":[0]}}}',
    }
    for name, content in files.items():
        put(kit, name, content)
    fit_to_log(kit.store, kit.disk)
    assert {name: kit.disk.read(f"{CONFIG}/{name}") for name in files} == files
    empty = StoreKit().disk
    fit_to_log(kit.store, empty)
    assert not empty.exists(CONFIG), "nor is anything made"
    assert timer_version(kit.store, empty) == DataVersion()


@pytest.mark.parametrize("name", ["delayOffset.json", "stagedRounds.json"])
@pytest.mark.parametrize("content", [b"{", b'{"offsetTable":{1:-1},"writes":{"a":7}}'])
def test_a_damaged_file_ends_the_start(name: str, content: bytes) -> None:
    kit = store_with(Orders=1)
    put(kit, name, content)
    with pytest.raises(CorruptFile):
        fit_to_log(kit.store, kit.disk)


@pytest.mark.parametrize("content", [b"{", b"{}"])
def test_damaged_sequences_are_read_from_the_log_again(content: bytes) -> None:
    kit = store_with(Orders=1)
    put(kit, "producerSequences.json", content)
    fit_to_log(kit.store, kit.disk)
    assert not kit.disk.exists(f"{CONFIG}/producerSequences.json")
