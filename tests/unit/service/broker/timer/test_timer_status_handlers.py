import json
import struct

from aerobee.model.topic import TopicConfig
from aerobee.service.broker.config import BrokerConfig
from tests.broker_kit import BrokerKit
from tests.timer_kit import TOLD
from tests.wire import JAVA_FIELDS

ORDERS = TopicConfig("Orders", 4, 4)
OFF = BrokerConfig(keeps_timers=False)


def with_a_timer() -> BrokerKit:
    kit = BrokerKit(ORDERS, config=TOLD)
    kit.ask(310, {**JAVA_FIELDS, "i": "UNIQ_KEY\x01a\x02TIMER_DELAY_MS\x019000\x02"}, b"hello")
    kit.run(3_000)
    return kit


def test_slaves_are_told_the_checkpoint_that_is_on_the_disk() -> None:
    kit = with_a_timer()
    body = bytes(kit.ask(60).body)
    assert len(body) == 56
    assert body == kit.disk.files()["store/config/timercheck"][:56]
    assert struct.unpack(">7q", body)[1:4] == (52, 1, 1)


def test_metrics_are_apaches_body_without_counts() -> None:
    kit = with_a_timer()
    said = json.loads(bytes(kit.ask(61).body))
    assert said["timingCount"] == {}
    assert said["dataVersion"]["counter"] == 1


def test_a_timer_that_is_off_has_no_checkpoint() -> None:
    kit = BrokerKit(ORDERS, config=OFF)
    assert kit.ask(60).code == 1
    assert kit.ask(61).code == 1


def test_there_is_one_engine_and_whoever_wants_another_is_told() -> None:
    answer = with_a_timer().ask(5001, {"E_T": "R"})
    assert answer.code == 16
    assert "one engine" in answer.remark
