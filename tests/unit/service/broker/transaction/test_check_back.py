import logging
from dataclasses import replace

import pytest

from aerobee.errors import DiskFull
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.transaction.check_back import CHECKS_A_TICK, LOOK_MS_MAX, RETRY_MS
from aerobee.storage.config import FlushMode
from tests.broker_kit import STORAGE
from tests.check_rig import BIG, Rig
from tests.store_kit import draft
from tests.transaction_kit import GIVEN_UP, GROUP, HALF, INTERVAL_MS, OP, TIMEOUT_MS


def test_a_producer_is_asked_when_the_timeout_is_over_and_not_before() -> None:
    rig = Rig()
    rig.join()
    rig.begin(b"order", UNIQ_KEY="id-1")
    rig.tick(0)
    rig.run(TIMEOUT_MS - 100)
    assert rig.asked() == []
    rig.look(100)
    (check,) = rig.asked()
    assert (check.message.body, check.message.topic, check.message.queue_id) == (
        b"order",
        "Orders",
        1,
    )
    assert check.header.message_id == check.header.transaction_id == "id-1"


def test_a_question_is_about_a_new_copy_that_counts_it() -> None:
    rig = Rig()
    rig.join()
    rig.begin()
    rig.begin()
    rig.tick(0)
    rig.run(TIMEOUT_MS)
    copies = rig.messages(HALF)[2:]
    assert [check.header.tran_state_table_offset for check in rig.asked()] == [2, 3]
    assert [copy.properties["TRANSACTION_CHECK_TIMES"] for copy in copies] == ["1", "1"]
    assert rig.open_offsets() == [2, 3]


def test_the_next_question_comes_after_the_interval() -> None:
    rig = Rig()
    rig.join()
    rig.begin()
    rig.tick(0)
    rig.run(TIMEOUT_MS)
    assert len(rig.asked()) == 1
    rig.run(INTERVAL_MS - 100)
    assert rig.asked() == []
    rig.look(100)
    (check,) = rig.asked()
    assert check.message.properties["TRANSACTION_CHECK_TIMES"] == "2"
    assert check.message.properties["TRAN_PREPARED_QUEUE_OFFSET"] == "0"


def test_a_half_with_an_immunity_of_its_own_is_left_alone_for_so_long() -> None:
    rig = Rig()
    rig.join()
    rig.begin(CHECK_IMMUNITY_TIME_IN_SECONDS="20")
    rig.begin(CHECK_IMMUNITY_TIME_IN_SECONDS="1")
    rig.tick(0)
    rig.run(1_000)
    assert [check.header.tran_state_table_offset for check in rig.asked()] == [2]
    rig.run(18_900)
    assert rig.asked() == []
    rig.run(200)
    assert [check.message.properties["TRAN_PREPARED_QUEUE_OFFSET"] for check in rig.asked()] == [
        "0"
    ]


def test_what_ended_is_not_asked_about() -> None:
    rig = Rig()
    rig.join()
    rig.begin()
    rig.begin()
    rig.tick(0)
    rig.roll_back(0)
    rig.commit(1)
    rig.run(TIMEOUT_MS + INTERVAL_MS)
    assert rig.asked() == []


def test_a_clock_that_is_set_makes_nobody_be_asked_early_or_given_up() -> None:
    rig = Rig()
    rig.join()
    rig.begin()
    rig.tick(0)
    rig.clock.jump_wall(1000 * 24 * 3_600_000)
    rig.run(TIMEOUT_MS - 100)
    assert (rig.asked(), rig.checks.given_up) == ([], 0)
    rig.clock.jump_wall(-3000 * 24 * 3_600_000)
    rig.look(100)
    assert len(rig.asked()) == 1


# The end of asking.


def test_after_so_many_questions_it_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig()
    rig.join()
    rig.begin(b"forgotten", UNIQ_KEY="id-1")
    rig.tick(0)
    with caplog.at_level(logging.WARNING):
        rig.run(TIMEOUT_MS + 16 * INTERVAL_MS, 1_000)
    assert [check.message.properties["TRANSACTION_CHECK_TIMES"] for check in rig.asked()] == [
        str(times) for times in range(1, 16)
    ]
    (parked,) = rig.messages(GIVEN_UP)
    assert parked.body == b"forgotten"
    assert parked.properties["TRANSACTION_CHECK_TIMES"] == "15"
    assert (rig.open_offsets(), rig.checks.given_up) == ([], 1)
    assert "id id-1, asked 15 times" in caplog.text
    assert rig.messages(OP)[-1].body == b"".join(b"%d," % offset for offset in range(16))


def test_a_half_that_nobody_was_there_for_is_given_up_when_it_is_too_old() -> None:
    rig = Rig(storage=replace(BIG, retention_ms=50_000))
    rig.begin()
    rig.tick(0)
    rig.run(49_000, 1_000)
    assert rig.checks.given_up == 0
    rig.run(1_000, 100)
    (parked,) = rig.messages(GIVEN_UP)
    assert "TRANSACTION_CHECK_TIMES" not in parked.properties
    assert rig.open_offsets() == []


def test_giving_up_waits_for_its_topic() -> None:
    rig = Rig(config=BrokerConfig(transaction_checks_max=1))
    rig.join()
    rig.begin()
    rig.tick(0)
    rig.run(TIMEOUT_MS)
    rig.clock.advance(INTERVAL_MS)
    rig.checks.on_tick(rig.clock.now())
    assert rig.messages(GIVEN_UP) == []
    rig.tables.finish()
    rig.look(RETRY_MS)
    assert len(rig.messages(GIVEN_UP)) == 1


def test_a_half_that_says_no_place_is_given_up() -> None:
    rig = Rig()
    rig.join()
    rig.begin()
    rig.tick(0)
    half = rig.ledger.halves.find(0)
    assert half is not None
    message = rig.ledger.read(half)
    assert message is not None
    # As another broker may have left it.
    bad = replace(message, properties={"PGROUP": GROUP})
    rig.intake.put_as_is(bad, rig.clock.now())
    rig.store.sync()
    rig.store.dispatch()
    after = Rig(rig.disk.kill(), clock=rig.clock)
    after.join()
    after.run(TIMEOUT_MS + 1_000)
    assert after.checks.given_up == 1
    assert len(after.asked()) == 1


# Nobody there.


def test_while_no_producer_is_there_nothing_is_written_and_nothing_counted() -> None:
    rig = Rig()
    for _ in range(10):
        rig.begin()
    rig.tick(0)
    end = rig.store.end_offset
    rig.run(20 * INTERVAL_MS, 1_000)
    assert rig.store.end_offset == end
    rig.join()
    rig.look(LOOK_MS_MAX)
    asked = rig.asked()
    assert [check.message.properties["TRANSACTION_CHECK_TIMES"] for check in asked] == ["1"] * 10


def test_a_producer_of_another_group_is_not_asked() -> None:
    rig = Rig()
    rig.join(1, "others")
    rig.begin()
    rig.tick(0)
    rig.run(TIMEOUT_MS + 1_000)
    assert rig.asked() == []


def test_a_half_that_waits_can_be_ended() -> None:
    rig = Rig()
    rig.begin()
    rig.begin()
    rig.tick(0)
    rig.run(TIMEOUT_MS)
    rig.roll_back(0)
    rig.join()
    rig.run(1_000)
    assert [check.message.properties["TRAN_PREPARED_QUEUE_OFFSET"] for check in rig.asked()] == [
        "1"
    ]


# No storms.


def test_a_tick_asks_a_bounded_number_of_questions() -> None:
    rig = Rig()
    rig.join()
    for _ in range(3 * CHECKS_A_TICK):
        rig.begin()
    rig.tick(0)
    rig.look(TIMEOUT_MS)
    assert len(rig.asked()) == CHECKS_A_TICK
    assert rig.checks.rest_ms(rig.clock.now()) == 0
    rig.look()
    rig.look()
    assert len(rig.asked()) == 2 * CHECKS_A_TICK
    rig.look()
    assert rig.asked() == []


def test_a_tick_asks_about_a_bounded_number_of_bytes() -> None:
    rig = Rig(storage=replace(BIG, log_file_bytes=1 << 25))
    rig.join()
    for _ in range(8):
        rig.begin(b"x" * 600_000)
    rig.tick(0)
    rig.look(TIMEOUT_MS)
    assert len(rig.asked()) == 2


def test_a_connection_gets_a_bounded_number_of_questions_a_second() -> None:
    rig = Rig(a_second=3)
    rig.join()
    for _ in range(8):
        rig.begin()
    rig.tick(0)
    rig.look(TIMEOUT_MS)
    assert len(rig.asked()) == 3
    rig.run(900)
    assert rig.asked() == []
    rig.run(100)
    assert len(rig.asked()) == 3
    rig.run(1_000)
    assert len(rig.asked()) == 2


def test_the_members_of_a_group_share_its_questions() -> None:
    rig = Rig()
    for channel in (1, 2, 3):
        rig.join(channel)
    for _ in range(30):
        rig.begin()
    rig.tick(0)
    rig.look(TIMEOUT_MS)
    channels = rig.asked_channels()
    assert [channels.count(channel) for channel in (1, 2, 3)] == [10, 10, 10]


def test_a_group_with_many_halves_does_not_keep_others_from_being_asked() -> None:
    rig = Rig(a_second=5)
    rig.join(1)
    rig.join(2, "small")
    for _ in range(100):
        rig.begin()
    rig.begin(group="small")
    rig.tick(0)
    rig.look(TIMEOUT_MS)
    rig.look(5)
    assert rig.asked_channels().count(2) == 1


# The disk.


def test_with_synchronous_flush_a_question_waits_until_its_copy_is_on_the_disk() -> None:
    rig = Rig(storage=replace(BIG, flush_mode=FlushMode.SYNC))
    rig.join()
    rig.begin()
    rig.tick(0)
    rig.checks.on_tick(rig.clock.advance(TIMEOUT_MS))
    assert (rig.asked(), rig.checks.asked) == ([], 1)
    for _ in range(3):
        for ticket in rig.kit.step().safe:
            ticket(True)  # type: ignore[operator]
        rig.kit.worker.run_all()
    (check,) = rig.asked()
    assert rig.ledger.record(check.header.commit_log_offset) is not None, "its answer finds it"


def test_what_the_store_refuses_is_asked_later(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig()
    rig.join()
    rig.begin()
    rig.begin()
    rig.tick(0)
    rig.store.appender.refusal = DiskFull("no room")
    with caplog.at_level(logging.WARNING):
        for _ in range(10):
            rig.checks.on_tick(rig.clock.advance(TIMEOUT_MS))
    assert caplog.text.count("no room") == 1
    assert (rig.asked(), rig.checks.asked) == ([], 0)
    rig.store.appender.refusal = None
    rig.look(RETRY_MS)
    assert len(rig.asked()) == 2


def test_a_half_whose_file_is_gone_is_reported_and_forgotten(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig = Rig(storage=replace(STORAGE, log_file_bytes=4096, retention_ms=60_000))
    rig.join()
    rig.begin()
    rig.tick(0)
    for _ in range(40):
        rig.kit.append(draft(b"Orders", 0, b"x" * 300))
        rig.kit.step(5_000)
        rig.kit.worker.run_all()
    rig.begin()
    rig.tick(0)
    queue = rig.store.queue(HALF.encode(), 0)
    assert queue is not None
    assert queue.min_offset == 1, "this process was not called for too long"
    with caplog.at_level(logging.ERROR):
        rig.run(TIMEOUT_MS)
    assert "log file was removed" in caplog.text
    assert len(rig.asked()) == 1
    assert rig.open_offsets() == [2]


def test_a_half_that_fits_but_not_with_a_count_is_given_up() -> None:
    rig = Rig()
    rig.join()
    room = 32_767 - sum(
        len(name) + len(text) + 2
        for name, text in {"PGROUP": GROUP, "REAL_TOPIC": "Orders", "REAL_QID": "1"}.items()
    )
    rig.begin(long="x" * (room - 30))
    rig.tick(0)
    rig.run(TIMEOUT_MS + 1_000)
    assert (rig.checks.given_up, rig.asked()) == (1, [])


# The oldest.


def test_a_half_that_stays_is_moved_when_much_lies_behind_it() -> None:
    rig = Rig(unread_max=100)
    rig.begin(b"stays")
    rig.tick(0)
    rig.run(TIMEOUT_MS)
    for _ in range(99):
        rig.roll_back(rig.begin())
    rig.look()
    rig.look(LOOK_MS_MAX)
    assert rig.saved()[0] == 0
    rig.roll_back(rig.begin())
    rig.look(LOOK_MS_MAX)
    rig.look(LOOK_MS_MAX)
    (half,) = rig.ledger.halves
    assert (half.offset, half.times, rig.saved()[0]) == (101, 0, 101)
    # It waits as before, and is found by the place that its producer knows.
    rig.join()
    rig.run(1_000)
    (check,) = rig.asked()
    assert (check.message.body, rig.ledger.halves.find(0)) == (b"stays", half)


def test_all_that_stay_are_moved_without_waiting_for_the_disk_each_time() -> None:
    rig = Rig(unread_max=100)
    for _ in range(2 * CHECKS_A_TICK):
        rig.begin(b"stays")
    rig.tick(0)
    rig.run(TIMEOUT_MS)
    for _ in range(400):
        rig.roll_back(rig.begin())
    rig.checks.on_tick(rig.clock.advance(LOOK_MS_MAX))
    rig.checks.on_tick(rig.clock.advance(5))
    rig.checks.on_tick(rig.clock.advance(5))
    offsets = rig.open_offsets()
    assert min(offsets) > 2 * CHECKS_A_TICK + 200
    assert len(offsets) == 2 * CHECKS_A_TICK


def test_many_that_stay_are_not_moved_for_their_own_sake() -> None:
    rig = Rig(unread_max=100)
    for _ in range(150):
        rig.begin()
    rig.tick(0)
    end = rig.store.end_offset
    rig.run(TIMEOUT_MS + 5_000)
    assert rig.store.end_offset == end


def test_a_half_in_the_oldest_part_of_the_log_is_moved_before_a_full_disk_takes_it() -> None:
    rig = Rig(storage=replace(STORAGE, log_file_bytes=4096))
    rig.begin(b"stays")
    rig.tick(0)
    rig.run(TIMEOUT_MS, 1_000)

    def fill_a_file() -> None:
        for _ in range(10):
            rig.kit.append(draft(b"Orders", 0, b"x" * 300))
        rig.look(LOOK_MS_MAX)
        rig.kit.step()
        rig.kit.worker.run_all()

    for _ in range(3):
        fill_a_file()
    assert rig.open_offsets() == [0]
    for _ in range(3):
        fill_a_file()
    (half,) = rig.ledger.halves
    assert (half.offset, half.times, half.is_waiting) == (1, 0, True)
    for _ in range(3):
        fill_a_file()
    assert rig.open_offsets() == [1], "once is enough for a while"


def test_a_half_that_is_moved_is_asked_about_when_it_would_have_been() -> None:
    rig = Rig(unread_max=10)
    rig.join()
    rig.begin(b"stays")
    rig.tick(0)
    for _ in range(20):
        rig.roll_back(rig.begin())
    rig.look()
    rig.look(LOOK_MS_MAX)
    (half,) = rig.ledger.halves
    assert half.offset == 21
    rig.run(TIMEOUT_MS - 300, 50)
    assert rig.asked() == []
    rig.run(200, 50)
    assert len(rig.asked()) == 1
