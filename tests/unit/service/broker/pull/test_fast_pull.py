"""The short way of a pull answers as the general one, and gives way whenever something changed."""

from dataclasses import replace

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.ports.service import ChannelId, Peer
from aerobee.protocol.headers.pulling import PullHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.storage.config import StorageConfig
from tests.broker_kit import CLIENT, OTHER, STORAGE, BrokerKit, pull_fields
from tests.send_rig import send_frame

ORDERS = TopicConfig("Orders", 4, 4)
FRESH = ChannelId(50)
"""A connection that has pulled nothing yet: what it is answered is the general handler's."""


ALL_OLD = replace(STORAGE, hot_bytes=0)


def kit_with(count: int = 100, storage: StorageConfig = STORAGE) -> BrokerKit:
    kit = BrokerKit(ORDERS, storage=storage)
    for number in range(count):
        text = f"UNIQ_KEY\x01id{number}\x02TAGS\x01{'AB'[number // 2 % 2]}\x02"
        frame = send_frame({"e": str(number % 2), "i": text}, b"%d" % number)
        kit.send_frames(frame, OTHER)
    kit.heard(OTHER)
    return kit


def short_count(kit: BrokerKit) -> int:
    """Pulls that went the short way so far."""
    return kit.broker._pull_assembly.fast_pull.answered


def pull_short(kit: BrokerKit, **fields: object) -> RemotingCommand | None:
    """The answer, if it came by the short way."""
    before = short_count(kit)
    answer = kit.ask(11, pull_fields(**fields))
    return answer if short_count(kit) > before else None


def pull_generally(kit: BrokerKit, **fields: object) -> RemotingCommand:
    kit.open(FRESH, Peer("10.0.0.8", 1))
    before = short_count(kit)
    answer = kit.ask(11, pull_fields(**fields), channel=FRESH)
    assert short_count(kit) == before
    kit.close(FRESH)
    return answer


@pytest.mark.parametrize("subscription", ["*", "A", "A || B", "none"])
@pytest.mark.parametrize("count", [1, 7, 32])
@pytest.mark.parametrize("storage", [STORAGE, ALL_OLD], ids=["new", "old"])
def test_both_ways_answer_the_same(subscription: str, count: int, storage: StorageConfig) -> None:
    kit = kit_with(storage=storage)
    said = {"subscription": subscription, "maxMsgNums": count}
    assert pull_short(kit, **said) is None  # the first one is learned from
    for queue_id in (0, 1):
        for offset in (0, 1, 30, 49):
            here = {**said, "queueId": queue_id, "queueOffset": offset}
            expected = pull_generally(kit, **here)
            answer = pull_short(kit, **here)
            if expected.code == 0:
                assert answer == expected
            else:
                assert answer is None


def test_what_is_not_there_takes_the_general_way() -> None:
    kit = kit_with()
    kit.pull()
    for queue_id, offset in ((0, 50), (0, 51), (0, -1), (2, 0), (3, 5), (4, 0), (-1, 0)):
        assert pull_short(kit, queueId=queue_id, queueOffset=offset) is None
    assert pull_short(kit) is not None


def test_an_old_message_that_is_damaged_is_refused_by_the_general_way() -> None:
    kit = kit_with(storage=ALL_OLD)
    kit.pull()
    assert pull_short(kit) is not None
    unit = kit.store.queues()[0].unit(3)
    assert unit is not None
    kit.store._log_files.files[0].view[unit[0] + 88] ^= 1
    assert pull_generally(kit).code == 1
    assert pull_short(kit) is None
    assert pull_short(kit, queueOffset=4) is not None  # the others are as good as before


def test_an_offset_is_committed_with_the_pull() -> None:
    kit = kit_with()
    kit.pull(sysFlag=5, commitOffset=3)
    answer = pull_short(kit, sysFlag=5, commitOffset=17, queueId=1)
    assert answer is not None
    fields = {"consumerGroup": "g", "topic": "Orders", "queueId": "1"}
    assert kit.ask(14, fields).ext_fields["offset"] == "17"


def test_a_pull_that_says_something_else_is_decided_anew() -> None:
    kit = kit_with()
    kit.pull()
    assert pull_short(kit, subscription="A") is None
    assert pull_short(kit, consumerGroup="other") is None
    # Both are known from now on.
    assert pull_short(kit, subscription="A") is not None
    assert pull_short(kit, consumerGroup="other") is not None
    assert pull_short(kit) is not None


def test_other_connections_have_learned_nothing() -> None:
    kit = kit_with()
    kit.pull()
    pull_generally(kit)
    kit.close(CLIENT)
    kit.open(CLIENT)
    assert pull_short(kit) is None


def test_a_topic_that_may_not_be_read_any_more_is_not() -> None:
    kit = kit_with()
    kit.pull()
    assert pull_short(kit) is not None
    change = {
        "topic": "Orders",
        "defaultTopic": "TBW102",
        "readQueueNums": "4",
        "writeQueueNums": "4",
        "perm": "2",
        "topicFilterType": "SINGLE_TAG",
    }
    assert kit.ask(17, change).code == 0
    assert kit.pull().code == 16


def test_a_group_that_may_not_read_a_topic_any_more_does_not() -> None:
    kit = kit_with()
    kit.pull()
    assert kit.ask(353, {"group": "g", "topic": "Orders", "readable": "false"}).code == 0
    answer = kit.pull()
    assert (answer.code, answer.ext_fields["forbiddenType"]) == (16, "5")


def test_an_offset_that_an_operator_sets_counts_at_once() -> None:
    kit = kit_with()
    kit.pull()
    reset = {"topic": "Orders", "group": "g", "timestamp": "0", "isForce": "true", "offset": "5"}
    assert kit.ask(222, {**reset, "queueId": "0"}).code == 0
    answer = kit.pull(queueOffset=20)
    assert (answer.code, answer.ext_fields["nextBeginOffset"]) == (21, "5")


def test_a_heartbeat_with_another_subscription_counts_at_once() -> None:
    kit = kit_with()
    kit.beat(subscriptions={"Orders": "A"}, version=1)
    said = {"sysFlag": 0, "subscription": "", "subVersion": 1}
    assert pull_short(kit, **said) is None
    answer = pull_short(kit, **said)
    assert answer is not None
    kit.beat(subscriptions={"Orders": "B"}, version=2)
    assert pull_short(kit, **said) is None
    assert pull_short(kit, **said) not in (None, answer)


def test_a_client_is_remembered_for_a_few_kinds_of_pulls_only() -> None:
    kit = kit_with()
    for number in range(9):
        kit.pull(consumerGroup=f"g{number}")
    assert pull_short(kit, consumerGroup="g8") is not None
    assert pull_short(kit, consumerGroup="g0") is None


def test_the_general_header_type_knows_every_field_that_is_a_place() -> None:
    header = PullHeader("g", "T", 1, 2, 3, commit_offset=4)
    assert {"queueId", "queueOffset", "commitOffset"} <= set(write_header(header))


@pytest.mark.parametrize(
    "expression", ["TAGS = 'A'", "TAGS <> 'A' AND UNIQ_KEY IS NOT NULL", "TRUE"]
)
def test_both_ways_choose_the_same_by_sql(expression: str) -> None:
    kit = kit_with()
    said = {"subscription": expression, "expressionType": "SQL92", "maxMsgNums": 7}
    assert pull_short(kit, **said) is None
    for queue_id in (0, 1):
        for offset in (0, 1, 30, 45):
            here = {**said, "queueId": queue_id, "queueOffset": offset}
            expected = pull_generally(kit, **here)
            answer = pull_short(kit, **here)
            assert answer is not None
            assert answer.ext_fields == expected.ext_fields
            assert bytes(answer.body) == bytes(expected.body)


def test_what_an_sql_filter_keeps_back_is_answered_the_general_way() -> None:
    kit = kit_with()
    said: dict[str, object] = {"subscription": "UNIQ_KEY = 'id0'", "expressionType": "SQL92"}
    assert kit.ask(11, pull_fields(**said)).code == 0
    assert pull_short(kit, **said) is not None
    assert pull_short(kit, **said, queueOffset=1) is None
    assert kit.ask(11, pull_fields(**said, queueOffset=1)).code == 20


def test_an_sql_filter_that_is_not_allowed_any_more_is_refused_at_once() -> None:
    kit = kit_with()
    said: dict[str, object] = {"subscription": "TRUE", "expressionType": "SQL92"}
    kit.ask(11, pull_fields(**said))
    assert pull_short(kit, **said) is not None
    assert kit.ask(25, body=b"enablePropertyFilter=false\n").code == 0
    assert kit.ask(11, pull_fields(**said)).code == 1
