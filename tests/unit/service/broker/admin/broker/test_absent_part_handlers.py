import json

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.admin.broker.absent_part_handlers import REFUSED
from tests.broker_kit import BrokerKit
from tests.send_rig import send_frame

ORDERS = TopicConfig("Orders", 4, 4)


@pytest.mark.parametrize("code", REFUSED)
def test_what_is_not_there_is_refused_with_the_reason(code: RequestCode) -> None:
    answer = BrokerKit().ask(code, body=b'{"password":"swordfish"}')
    assert (answer.code, answer.remark) == (3, REFUSED[code])
    assert "swordfish" not in answer.remark


@pytest.mark.parametrize(
    ("code", "word"),
    [
        *((code, "authentication is not enabled") for code in range(3001, 3011)),
        (2001, "no limits per group"),
        (354, "RocksDB"),
        *((code, "no lite topics: send to one ordinary topic") for code in range(200075, 200080)),
    ],
)
def test_a_reason_says_what_is_missing_and_what_to_do_instead(code: int, word: str) -> None:
    assert word in BrokerKit().ask(code).remark


def test_a_master_without_slaves_says_so() -> None:
    kit = BrokerKit(ORDERS)
    kit.send_frames(send_frame())
    kit.heard()
    found = json.loads(bytes(kit.ask(907).body))
    assert (found["master"], found["haConnectionInfo"]) == (True, [])
    assert found["masterCommitLogMaxOffset"] == kit.store.end_offset > 0


def test_no_group_is_held_back() -> None:
    answer = BrokerKit().ask(2003)
    assert answer.code == 0
    assert json.loads(bytes(answer.body)) == {"runtimeTable": {}, "configTable": {}}


def test_there_are_no_light_topics_and_the_others_are_counted() -> None:
    kit = BrokerKit(ORDERS)
    kit.send_frames(send_frame({"e": "0"}) + send_frame({"e": "1"}))
    kit.heard()
    for group in ("a", "b"):
        fields = {"consumerGroup": group, "topic": "Orders", "queueId": "0", "commitOffset": "1"}
        assert kit.ask(15, fields).code == 0
    found = json.loads(bytes(kit.ask(200074).body))
    assert (found["cqTableSize"], found["offsetTableSize"]) == (1, 2)
    assert (found["topicMeta"], found["groupMeta"], found["currentLmqNum"]) == ({}, {}, 0)
