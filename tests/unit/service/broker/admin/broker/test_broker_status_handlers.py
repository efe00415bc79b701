import json
import re

import pytest

from aerobee.model.broker_role import BrokerRole
from aerobee.model.topic import TopicConfig
from aerobee.replication.config import ReplicationConfig
from aerobee.service.broker.config import BrokerIdentity
from aerobee.storage.config import StorageConfig
from tests.broker_kit import STORAGE, SYNC, BrokerKit
from tests.captured import captured
from tests.send_rig import send_frame

ORDERS = TopicConfig("Orders", 4, 4)


def figures(kit: BrokerKit) -> dict[str, str]:
    found: dict[str, str] = json.loads(bytes(kit.ask(28).body))["table"]
    return found


def test_the_figures_are_those_that_tools_look_for() -> None:
    """The list of RocketMQ's clusterList: it fails or shows nothing where one is missing."""
    wanted = """
        putTps getTransferredTps getTransferedTps msgPutTotalYesterdayMorning
        msgPutTotalTodayMorning msgPutTotalTodayNow msgGetTotalYesterdayMorning
        msgGetTotalTodayMorning msgGetTotalTodayNow sendThreadPoolQueueSize
        pullThreadPoolQueueSize ackThreadPoolQueueSize sendThreadPoolQueueHeadWaitTimeMills
        pullThreadPoolQueueHeadWaitTimeMills ackThreadPoolQueueHeadWaitTimeMills
        pageCacheLockTimeMills earliestMessageTimeStamp commitLogDiskRatio timerReadBehind
        timerOffsetBehind timerCongestNum timerEnqueueTps timerDequeueTps brokerVersionDesc
        brokerActive
    """
    found = figures(BrokerKit())
    assert [name for name in wanted.split() if not found.get(name)] == []
    assert all(isinstance(value, str) for value in found.values())
    assert list(found) == sorted(found)


def test_the_figures_have_apaches_names() -> None:
    (recorded, *_) = captured("GET_BROKER_RUNTIME_INFO", "response")
    apaches = json.loads(bytes(recorded.body))["table"]
    ours = figures(BrokerKit())
    # 4.9's spelling is not in the answer of 5.5.0, and the half of the sends is our own.
    more = {"getTransferedTps", "putLatency50"}
    assert {name for name in ours if name not in apaches} == more
    for name in ("brokerVersionDesc", "brokerActive"):
        assert ours[name] == apaches[name]


def test_a_slave_is_not_active() -> None:
    """RocketMQ's word for a broker that delivers delayed messages and asks about transactions."""
    follows = ReplicationConfig(role=BrokerRole.SLAVE)
    slave = BrokerKit(identity=BrokerIdentity(broker_id=1, replication=follows))
    assert figures(slave)["brokerActive"] == "false"


def test_messages_are_counted_and_rates_are_per_second() -> None:
    kit = BrokerKit(ORDERS)
    kit.run(1_000)
    before = figures(kit)
    assert (before["msgPutTotalTodayNow"], before["putTps"]) == ("0", "0.00 0.00 0.00")
    for number in range(20):
        kit.send_frames(send_frame({"e": str(number % 4)}))
    kit.heard()
    kit.ask(310, {"b": "Orders", "e": "0", "f": "0", "g": "1", "h": "0", "i": ""})
    kit.pull()
    kit.run(10_000, 1_000)
    after = figures(kit)
    assert after["msgPutTotalTodayNow"] == after["putMessageTimesTotal"] == "21"
    assert after["msgGetTotalTodayNow"] == "6"
    assert after["putTps"].split()[0] == "2.10"
    assert after["getTransferredTps"].split()[0] == "0.60"


def test_yesterday_is_told_from_today() -> None:
    kit = BrokerKit(ORDERS)
    kit.send_frames(send_frame())
    kit.heard()
    kit.run(86_400_000, 3_600_000)
    kit.send_frames(send_frame())
    kit.heard()
    found = figures(kit)
    assert (found["msgPutTotalTodayMorning"], found["msgPutTotalTodayNow"]) == ("1", "2")
    assert found["msgPutTotalYesterdayMorning"] == "0"


@pytest.mark.parametrize("storage", [STORAGE, SYNC], ids=["async", "sync"])
def test_the_log_is_shown_as_it_is(storage: StorageConfig) -> None:
    kit = BrokerKit(ORDERS, storage=storage)
    assert figures(kit)["earliestMessageTimeStamp"] == "-1"
    kit.send_frames(send_frame())
    kit.finish()
    kit.heard()
    found = figures(kit)
    assert found["commitLogMinOffset"] == "0"
    assert found["commitLogMaxOffset"] == str(kit.store.end_offset)
    behind = kit.store.end_offset - kit.store.flushed_offset
    assert found["remainHowManyDataToFlush"] == f"{behind} B"
    assert (behind == 0) == (storage is SYNC)
    assert found["earliestMessageTimeStamp"] == str(kit.clock.now().wall_ms)
    assert 0 <= float(found["commitLogDiskRatio"]) < 1


def test_delay_levels_are_shown_with_how_far_they_are() -> None:
    kit = BrokerKit(ORDERS)
    delayed = {"i": "UNIQ_KEY\x01i\x02DELAY\x012\x02"}
    kit.send_frames(send_frame(delayed) + send_frame(delayed))
    kit.heard()
    assert figures(kit)["scheduleMessageOffset_2"] == "0,2"
    kit.run(6_000)
    assert figures(kit)["scheduleMessageOffset_2"] == "2,2"


def test_how_long_it_runs_is_spelled_out() -> None:
    kit = BrokerKit()
    started = kit.clock.now().wall_ms
    kit.clock.jump_wall(-500_000_000)
    kit.clock.advance((((1 * 24 + 2) * 60 + 3) * 60 + 4) * 1000)
    found = figures(kit)
    assert found["runtime"] == "[ 1 days, 2 hours, 3 minutes, 4 seconds ]"
    assert found["bootTimestamp"] == str(started)


def test_every_figure_of_apaches_is_there_but_those_that_nobody_measures() -> None:
    (recorded, *_) = captured("GET_BROKER_RUNTIME_INFO", "response")
    missing = json.loads(bytes(recorded.body))["table"].keys() - figures(BrokerKit()).keys()
    assert missing == {
        "commitLogDiskRatio_./store/commitlog",  # a path of the machine
        "getMessageEntireTimeMax",
        "putMessageDistributeTime",
        "putMessageEntireTimeMax",
    }


def test_sizes_are_of_what_was_stored_since_the_start() -> None:
    before = BrokerKit(ORDERS)
    before.send_frames(send_frame())
    kit = before.restarted()
    assert figures(kit)["putMessageAverageSize"] == "0.0"
    began_at = kit.store.end_offset
    kit.send_frames(send_frame() + send_frame())
    kit.heard()
    found = figures(kit)
    stored = kit.store.end_offset - began_at
    assert found["putMessageSizeTotal"] == str(stored)
    assert float(found["putMessageAverageSize"]) == stored / 2


def test_the_room_on_the_disk_is_told_as_apache_tells_it() -> None:
    (recorded, *_) = captured("GET_BROKER_RUNTIME_INFO", "response")
    form = re.compile(r"Total : \d+\.\d [KMGTPE]iB, Free : \d+\.\d [KMGTPE]iB\.")
    assert form.fullmatch(json.loads(bytes(recorded.body))["table"]["commitLogDirCapacity"])
    kit = BrokerKit()
    assert form.fullmatch(figures(kit)["commitLogDirCapacity"])
    space = kit.store.disk_space()
    assert space is not None
    total = float(figures(kit)["commitLogDirCapacity"].split()[2])
    assert total == pytest.approx(space.total_bytes / 1024 ** _power(space.total_bytes), abs=0.06)


def _power(count: int) -> int:
    power = 0
    while count >= 1024:
        count //= 1024
        power += 1
    return power


def test_pulls_that_find_nothing_are_told_from_those_that_do() -> None:
    kit = BrokerKit(ORDERS)
    kit.send_frames(send_frame({"e": "0"}))
    kit.heard()
    for _ in range(3):
        kit.pull(queueOffset=0)
    kit.pull(queueOffset=99)
    kit.run(10_000, 1_000)
    found = figures(kit)
    assert found["getFoundTps"].split()[0] == "0.30"
    assert found["getMissTps"].split()[0] == "0.10"
    assert found["getTotalTps"].split()[0] == "0.40"


def test_sends_that_were_refused_are_counted() -> None:
    kit = BrokerKit(ORDERS)
    kit.send_frames(send_frame({"e": "0"}) + send_frame({"e": "99"}))
    kit.heard()
    kit.run(1_000)
    found = figures(kit)
    assert (found["putMessageTimesTotal"], found["putMessageFailedTimes"]) == ("1", "1")


def test_timers_are_shown_as_they_come_and_go() -> None:
    kit = BrokerKit(ORDERS)
    delay = {"i": "UNIQ_KEY\x01i\x02TIMER_DELAY_MS\x013000\x02"}
    kit.send_frames(send_frame(delay) + send_frame(delay))
    kit.heard()
    kit.run(9_000, 500)
    found = figures(kit)
    assert float(found["timerEnqueueTps"]) > 0
    assert float(found["timerDequeueTps"]) > 0
    assert found["timerReadBehind"] == "0"
