from dataclasses import replace

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.ports.disk_worker import Lane
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.log_access.cold_reads import COLD_READS_MAX
from aerobee.service.broker.pull.pull_handlers import HOLD_MS_MAX
from tests.broker_kit import CLIENT, OTHER, STORAGE, SYNC, BrokerKit, pull_fields, records_in
from tests.send_rig import send_frame

ORDERS = TopicConfig("Orders", 4, 4)
HOLD = 6
"""The system flag of a pull that may be held and brings its filter."""


def kit_with(count: int, config: BrokerConfig | None = None) -> BrokerKit:
    """A broker whose queue 0 holds so many messages: bodies 0, 1, …, tags A and B in turn."""
    kit = BrokerKit(ORDERS, config=config)
    put(kit, *range(count))
    return kit


def put(kit: BrokerKit, *numbers: int) -> None:
    """Store messages on another connection."""
    for number in numbers:
        text = f"UNIQ_KEY\x01id{number}\x02TAGS\x01{'AB'[number % 2]}\x02"
        kit.send_frames(send_frame({"e": "0", "i": text}, b"%d" % number), OTHER)
    kit.heard(OTHER)


def bodies(answer: RemotingCommand) -> list[bytes]:
    return [message.body for message in records_in(answer)]


def places(answer: RemotingCommand) -> tuple[int, int, int, int]:
    """Code, next offset, minimum and maximum."""
    fields = answer.ext_fields
    assert fields["suggestWhichBrokerId"] == "0"
    return (
        answer.code,
        int(fields["nextBeginOffset"]),
        int(fields["minOffset"]),
        int(fields["maxOffset"]),
    )


# What is found, or not.


@pytest.mark.parametrize("code", [11, 361])
def test_messages_are_found_from_an_offset_on(code: int) -> None:
    kit = kit_with(5)
    answer = kit.ask(code, pull_fields(queueOffset=2))
    assert places(answer) == (0, 5, 0, 5)
    assert answer.remark == "FOUND"
    assert bodies(answer) == [b"2", b"3", b"4"]
    assert [message.queue_offset for message in records_in(answer)] == [2, 3, 4]


def test_no_more_is_given_than_asked_for_or_than_the_broker_gives() -> None:
    kit = kit_with(10, BrokerConfig(pull_count_max=4))
    assert bodies(kit.pull(maxMsgNums=3)) == [b"0", b"1", b"2"]
    assert places(kit.pull(maxMsgNums=1000)) == (0, 4, 0, 10)
    assert bodies(kit.pull(maxMsgNums=0)) == [b"0"]
    assert bodies(kit.pull(maxMsgNums=-5)) == [b"0"]


def test_an_answer_ends_after_so_many_bytes_but_has_one_message_at_least() -> None:
    kit = kit_with(5, BrokerConfig(pull_bytes_max=1))
    assert bodies(kit.pull()) == [b"0"]


def test_a_bulk_reader_gets_larger_answers_each_time() -> None:
    kit = kit_with(10, BrokerConfig(pull_bytes_max=1))
    for count, is_bulk in ((10, "true"), (1, "false"), (10, "true")):
        assert len(bodies(kit.pull(maxMsgNums=1000, aerobeeBulk=is_bulk))) == count


@pytest.mark.parametrize(
    ("count", "offset", "expected", "remark"),
    [
        (0, 0, (19, 0, 0, 0), "NO_MATCHED_LOGIC_QUEUE"),
        (0, 3, (21, 0, 0, 0), "NO_MATCHED_LOGIC_QUEUE"),
        (0, -1, (21, 0, 0, 0), "NO_MATCHED_LOGIC_QUEUE"),
        (2, 2, (19, 2, 0, 2), "OFFSET_OVERFLOW_ONE"),
        (2, 3, (21, 2, 0, 2), "OFFSET_OVERFLOW_BADLY"),
        (2, -1, (21, 0, 0, 2), "OFFSET_TOO_SMALL"),
    ],
)
def test_an_offset_where_nothing_is_says_where_to_go(
    count: int, offset: int, expected: tuple[int, int, int, int], remark: str
) -> None:
    answer = kit_with(count).pull(queueOffset=offset)
    assert places(answer) == expected
    assert answer.remark == remark
    assert bytes(answer.body) == b""


def test_an_offset_whose_messages_are_gone_is_sent_to_the_oldest() -> None:
    kit = BrokerKit(ORDERS, storage=replace(STORAGE, retention_ms=60_000))
    kit.send_frames(send_frame({"e": "0"}, b"x" * 20_000), OTHER)
    for _ in range(6):
        kit.run(1_000, 1_000)
        kit.send_frames(send_frame({"e": "0"}, b"x" * 20_000), OTHER)
    kit.run(120_000, 10_000)
    code, after, low, high = places(kit.pull(queueOffset=0))
    assert (code, after, high) == (21, low, 7)
    assert 0 < low < 7
    assert places(kit.pull(queueOffset=low))[0] == 0


def test_a_filter_lets_through_what_it_names() -> None:
    kit = kit_with(6)
    answer = kit.pull(subscription="B")
    assert (places(answer), bodies(answer)) == ((0, 6, 0, 6), [b"1", b"3", b"5"])
    assert len(bodies(kit.pull(subscription="A || B"))) == 6
    answer = kit.pull(subscription="C")
    assert (places(answer), answer.remark) == ((20, 6, 0, 6), "NO_MATCHED_MESSAGE")


def test_the_filter_of_a_heartbeat_counts_where_a_pull_brings_none() -> None:
    kit = kit_with(4)
    kit.beat(subscriptions={"Orders": "A"})
    assert bodies(kit.pull(sysFlag=0, subscription="", subVersion=1)) == [b"0", b"2"]
    # Newer than the heartbeat: nothing is kept back until it comes.
    assert len(bodies(kit.pull(sysFlag=0, subscription="", subVersion=2))) == 4


def test_sends_and_pulls_of_one_read_see_each_other() -> None:
    kit = BrokerKit(ORDERS)
    kit.send_frames(send_frame({"e": "0"}, b"0"))
    assert [answer.code for answer in kit.heard()] == [0]
    assert bodies(kit.pull()) == [b"0"]


def test_topic_and_group_flags_are_told() -> None:
    kit = BrokerKit(replace(ORDERS, sys_flag=1))
    answer = kit.pull()
    assert answer.ext_fields["topicSysFlag"] == "1"
    assert answer.ext_fields["groupSysFlag"] == "0"


def test_what_was_handed_out_is_counted() -> None:
    kit = kit_with(5)
    kit.pull()
    kit.pull(queueOffset=3)
    body = bytes(kit.ask(28).body)
    assert b'"msgGetTotalTodayNow":"7"' in body
    assert b'"msgPutTotalTodayNow":"5"' in body


def test_what_is_not_durable_is_not_found() -> None:
    kit = BrokerKit(ORDERS, storage=SYNC)
    kit.send_frames(send_frame({"e": "0"}), OTHER)
    kit.tell(11, pull_fields())
    (answer,) = kit.heard()
    assert answer.code == 19
    kit.finish()
    assert kit.pull().code == 0


# Offsets that come with a pull.


def committed(kit: BrokerKit) -> str:
    said = {"consumerGroup": "g", "topic": "Orders", "queueId": "0"}
    return kit.ask(14, said).ext_fields.get("offset", "")


def test_an_offset_is_committed_only_with_the_flag_and_never_beyond_the_queue() -> None:
    kit = kit_with(5)
    kit.pull(sysFlag=4, commitOffset=3)
    assert committed(kit) == "0"  # a young queue begins at 0
    kit.pull(sysFlag=5, commitOffset=3)
    assert committed(kit) == "3"
    kit.pull(sysFlag=5, commitOffset=99)
    assert committed(kit) in ("3", "5")


def test_a_held_pull_commits_once_and_not_again_when_it_is_woken() -> None:
    kit = kit_with(5)
    kit.tell(11, pull_fields(sysFlag=HOLD | 1, queueOffset=5, commitOffset=4))
    assert committed(kit) == "4"
    said = {"consumerGroup": "g", "topic": "Orders", "queueId": "0", "commitOffset": "2"}
    assert kit.ask(15, said, channel=OTHER).code == 0
    put(kit, 5)
    assert [answer.code for answer in kit.heard()] == [0]
    assert committed(kit) == "2"


def reset(kit: BrokerKit, offset: int) -> None:
    said = {"topic": "Orders", "group": "g", "timestamp": "0", "isForce": "true"}
    said |= {"queueId": "0", "offset": str(offset)}
    assert kit.ask(222, said, channel=OTHER).code == 0


def test_a_reset_sends_the_next_pull_to_its_offset_once() -> None:
    kit = kit_with(5)
    kit.pull(sysFlag=5, commitOffset=4)
    reset(kit, 1)
    answer = kit.pull(queueOffset=4, sysFlag=5, commitOffset=4)
    assert (places(answer), answer.remark) == ((21, 1, 0, 5), "OFFSET_RESET")
    assert bytes(answer.body) == b""
    assert committed(kit) == "1", "what was reset is not overwritten by the pull that hears of it"
    assert places(kit.pull(queueOffset=1))[0] == 0


def test_a_held_pull_hears_of_a_reset_when_it_ends() -> None:
    for is_woken in (False, True):
        kit = kit_with(5)
        kit.tell(11, pull_fields(sysFlag=HOLD, queueOffset=5, suspendTimeoutMillis=5_000))
        reset(kit, 1)
        assert kit.heard() == []
        if is_woken:
            put(kit, 5)
        else:
            kit.tick(5_000)
        (answer,) = kit.heard()
        assert (places(answer)[:2], answer.remark) == ((21, 1), "OFFSET_RESET")
        assert places(kit.pull(queueOffset=1))[0] == 0


def test_a_pull_that_is_where_a_reset_sends_it_just_goes_on() -> None:
    kit = kit_with(5)
    kit.pull()
    reset(kit, 3)
    assert bodies(kit.pull(queueOffset=3, sysFlag=5, commitOffset=1)) == [b"3", b"4"]
    assert committed(kit) == "3", "what the client committed before counts no more"
    assert places(kit.pull(queueOffset=0))[0] == 0


# Long polling.


def held(kit: BrokerKit, **fields: object) -> None:
    kit.tell(11, pull_fields(sysFlag=HOLD, **fields))
    assert kit.heard() == []


@pytest.mark.parametrize("count", [0, 3])
def test_a_held_pull_is_answered_by_the_next_message_at_once(count: int) -> None:
    kit = kit_with(count)
    held(kit, queueOffset=count)
    kit.run(5_000)
    assert kit.heard() == []
    put(kit, count)
    (answer,) = kit.heard()
    assert (places(answer), bodies(answer)) == ((0, count + 1, 0, count + 1), [b"%d" % count])
    kit.run(40_000, 1_000)
    assert kit.heard() == []


def test_a_message_of_another_queue_does_not_wake() -> None:
    kit = kit_with(0)
    held(kit)
    kit.send_frames(send_frame({"e": "1"}), OTHER)
    assert kit.heard() == []


def test_with_synchronous_flush_a_held_pull_is_woken_by_what_is_durable() -> None:
    kit = BrokerKit(ORDERS, storage=SYNC)
    held(kit)
    kit.send_frames(send_frame({"e": "0"}, b"0"), OTHER)
    kit.tick(1)
    assert kit.heard() == []
    kit.finish()
    assert [bodies(answer) for answer in kit.heard()] == [[b"0"]]


def test_a_message_that_was_delayed_wakes_too() -> None:
    kit = kit_with(0)
    held(kit)
    kit.send_frames(send_frame({"e": "0", "i": "UNIQ_KEY\x01i\x02DELAY\x011\x02"}, b"late"), OTHER)
    assert kit.heard() == []
    kit.run(1_100)
    assert [bodies(answer) for answer in kit.heard()] == [[b"late"]]


def test_a_pull_is_held_for_as_long_as_it_asks() -> None:
    kit = kit_with(2)
    held(kit, queueOffset=2, suspendTimeoutMillis=15_000)
    kit.tick(14_999)
    assert kit.heard() == []
    kit.tick(1)
    (answer,) = kit.heard()
    assert places(answer) == (19, 2, 0, 2)


def test_a_pull_is_never_held_for_longer_than_clients_wait() -> None:
    kit = kit_with(0)
    held(kit, suspendTimeoutMillis=10_000_000)
    kit.tick(HOLD_MS_MAX)
    assert [answer.code for answer in kit.heard()] == [19]


@pytest.mark.parametrize("timeout", [0, -1])
def test_a_pull_that_does_not_want_to_be_held_is_answered(timeout: int) -> None:
    kit = kit_with(0)
    assert kit.pull(sysFlag=HOLD, suspendTimeoutMillis=timeout).code == 19


def test_without_long_polling_a_pull_is_held_for_a_short_while() -> None:
    kit = kit_with(0, BrokerConfig(holds_pulls=False, short_hold_ms=1_000))
    held(kit)
    kit.tick(999)
    assert kit.heard() == []
    kit.tick(1)
    assert [answer.code for answer in kit.heard()] == [19]


def test_what_will_not_be_there_soon_is_not_waited_for() -> None:
    kit = kit_with(2)
    assert kit.pull(sysFlag=HOLD, queueOffset=3).code == 21
    assert kit.pull(sysFlag=HOLD, queueId=1, queueOffset=1).code == 21
    assert kit.pull(sysFlag=HOLD, subscription="C").code == 20


def test_a_filter_that_lets_nothing_through_keeps_waiting_and_goes_on_behind_it() -> None:
    kit = kit_with(0)
    held(kit, subscription="B")
    put(kit, 0, 2, 4)
    assert kit.heard() == []
    put(kit, 5)
    (answer,) = kit.heard()
    assert (places(answer), bodies(answer)) == ((0, 4, 0, 4), [b"5"])


def test_a_filter_that_let_nothing_through_until_the_end_skips_what_it_saw() -> None:
    kit = kit_with(0)
    held(kit, subscription="B", suspendTimeoutMillis=5_000)
    put(kit, 0, 2)
    kit.tick(5_000)
    (answer,) = kit.heard()
    assert places(answer) == (19, 2, 0, 2)


def test_all_who_wait_for_a_queue_are_woken() -> None:
    kit = kit_with(0)
    held(kit)
    kit.tell(11, pull_fields(sysFlag=HOLD, consumerGroup="h"), channel=OTHER)
    kit.send_frames(send_frame({"e": "0"}, b"0"), CLIENT)
    assert [bodies(a) for a in kit.heard(CLIENT) if a.body] == [[b"0"]]
    assert [bodies(a) for a in kit.heard(OTHER)] == [[b"0"]]


def test_a_pull_whose_connection_is_gone_is_forgotten() -> None:
    kit = kit_with(0)
    held(kit)
    kit.close(CLIENT)
    kit.open(CLIENT)
    put(kit, 0)
    kit.tick(HOLD_MS_MAX)
    assert kit.heard() == []


def test_a_one_way_pull_is_never_answered() -> None:
    kit = kit_with(2)
    for _ in range(3):
        kit.tell(11, pull_fields(), flag=2)
    kit.tell(11, pull_fields(sysFlag=HOLD, queueOffset=2), flag=2)
    put(kit, 2)
    kit.tick(HOLD_MS_MAX)
    assert kit.heard() == []


# Cold reads.


def cold_kit(count: int) -> BrokerKit:
    """A broker that was started again, and has nothing of its log in memory."""
    kit = kit_with(count).restarted()
    kit.finish()
    kit.disk.faults.make_cold("*commitlog*")
    return kit


def test_what_is_not_in_memory_is_read_by_a_disk_thread_first() -> None:
    kit = cold_kit(3)
    kit.tell(11, pull_fields(queueOffset=1))
    kit.tick(1)
    assert kit.heard() == []
    assert kit.worker.pending(Lane.BACKGROUND)
    kit.finish()
    (answer,) = kit.heard()
    assert (places(answer), bodies(answer)) == ((0, 3, 0, 3), [b"1", b"2"])


def test_a_cold_record_that_is_damaged_is_not_shown() -> None:
    kit = kit_with(3)
    kit.stop()
    file = kit.disk.open("store/commitlog/00000000000000000000")
    where = bytes(file.view).index(b"id1")
    file.view[where] ^= 1
    kit = BrokerKit(disk=kit.disk, clock=kit.clock)
    kit.finish()
    kit.disk.faults.make_cold("*commitlog*")
    answer = kit.pull()
    assert (answer.code, bytes(answer.body)) == (1, b"")
    assert "checksum" in answer.remark
    # Nobody else suffers.
    assert bodies(kit.pull(queueOffset=2)) == [b"2"]


def test_too_many_cold_reads_are_refused_and_hot_ones_are_not() -> None:
    kit = cold_kit(1)
    for _ in range(COLD_READS_MAX):
        kit.tell(11, pull_fields())
    assert kit.heard() == []
    kit.tell(11, pull_fields())
    assert [answer.code for answer in kit.heard()] == [2]
    put(kit, 1)
    kit.finish()
    assert [answer.code for answer in kit.heard()] == [0] * COLD_READS_MAX
    assert kit.pull().code == 0


def test_a_bad_field_is_named() -> None:
    kit = kit_with(0)
    for name in ("consumerGroup", "topic", "queueId", "queueOffset", "maxMsgNums"):
        said = pull_fields()
        del said[name]
        answer = kit.ask(11, said)
        assert (answer.code, name in answer.remark) == (1, True)
    answer = kit.pull(queueOffset="x")
    assert (answer.code, "queueOffset" in answer.remark) == (1, True)


# Filters by SQL.


def put_priced(kit: BrokerKit, *prices: str) -> None:
    """Messages with a price, on another connection; the price is the body, too."""
    for price in prices:
        text = f"UNIQ_KEY\x01id{price}\x02" + (f"price\x01{price}\x02" if price else "")
        kit.send_frames(send_frame({"e": "0", "i": text}, price.encode()), OTHER)
    kit.heard(OTHER)


def sql(expression: str) -> dict[str, object]:
    return {"subscription": expression, "expressionType": "SQL92"}


def ask(kit: BrokerKit, said: dict[str, object], **more: object) -> RemotingCommand:
    return kit.ask(11, pull_fields(**said, **more))


def test_an_sql_filter_lets_through_what_it_chooses() -> None:
    kit = BrokerKit(ORDERS)
    put_priced(kit, "10", "50", "", "cheap", "41")
    answer = ask(kit, sql("price > 40"))
    assert (places(answer), bodies(answer)) == ((0, 5, 0, 5), [b"50", b"41"])
    answer = ask(kit, sql("price > 400"))
    assert (places(answer), answer.remark) == ((20, 5, 0, 5), "NO_MATCHED_MESSAGE")
    assert bodies(ask(kit, sql("price IS NULL"))) == [b""]


def test_an_sql_filter_of_a_heartbeat_counts_and_a_newer_pull_waits_for_its_own() -> None:
    kit = BrokerKit(ORDERS)
    put_priced(kit, "10", "50")
    kit.beat(subscriptions={"Orders": "price > 40"}, kind="SQL92")
    said: dict[str, object] = {"sysFlag": 0, "subscription": "", "expressionType": "SQL92"}
    assert bodies(ask(kit, said, subVersion=1)) == [b"50"]
    assert ask(kit, said, subVersion=2).code == 25
    kit.beat(subscriptions={"Orders": "price < 40"}, kind="SQL92", version=2)
    assert bodies(ask(kit, said, subVersion=2)) == [b"10"]


def test_a_held_pull_is_woken_by_what_its_sql_filter_chooses_only() -> None:
    kit = BrokerKit(ORDERS)
    held(kit, **sql("price > 40"))
    put_priced(kit, "10", "", "cheap")
    assert kit.heard() == []
    put_priced(kit, "50")
    (answer,) = kit.heard()
    assert (places(answer), bodies(answer)) == ((0, 4, 0, 4), [b"50"])


def test_a_wrong_sql_filter_is_refused_with_its_place() -> None:
    answer = ask(BrokerKit(ORDERS), sql("price >> 40"))
    assert (answer.code, "at character 8" in answer.remark) == (23, True)


def test_an_sql_filter_chooses_of_cold_messages_after_they_were_checked() -> None:
    kit = BrokerKit(ORDERS)
    put_priced(kit, "10", "50", "20", "60")
    kit = kit.restarted()
    kit.finish()
    assert bodies(ask(kit, sql("price > 40"))) == [b"50", b"60"]
    kit.disk.faults.make_cold("*commitlog*")
    kit.tell(11, pull_fields(**sql("price > 40"), maxMsgNums=1))
    assert kit.heard() == []
    kit.finish()
    (answer,) = kit.heard()
    assert (places(answer), bodies(answer)) == ((0, 3, 0, 4), [b"50"])
    assert ask(kit, sql("price > 400")).code == 20
