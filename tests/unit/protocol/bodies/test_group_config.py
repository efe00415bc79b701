import json

import pytest

from aerobee.errors import ProtocolError
from aerobee.model.group import GroupConfig
from aerobee.model.topic import DataVersion
from aerobee.protocol.bodies.group_config import (
    CARRIED_BYTES_MAX,
    decode_group_config,
    decode_group_configs,
    decode_group_table,
    decode_is_readable,
    encode_group_config,
    encode_group_configs,
    encode_group_forbidden,
    encode_group_table,
    group_config_from,
)
from aerobee.protocol.text.json_members import Members

# As Apache 5.5.0 writes it.
PLAIN = (
    b'{"attributes":{},"brokerId":0,"consumeBroadcastEnable":true,"consumeEnable":true,'
    b'"consumeFromMinEnable":true,"consumeMessageOrderly":false,"consumeTimeoutMinute":15,'
    b'"groupName":"g","groupRetryPolicy":{"type":"CUSTOMIZED"},"groupSysFlag":0,'
    b'"notifyConsumerIdsChangedEnable":true,"retryMaxTimes":16,"retryQueueNums":1,'
    b'"whichBrokerWhenConsumeSlowly":1}'
)
RICH = (
    b'{"attributes":{"colour":"red"},"brokerId":2,"consumeBroadcastEnable":false,'
    b'"consumeEnable":false,"consumeFromMinEnable":false,"consumeMessageOrderly":true,'
    b'"consumeTimeoutMinute":20,"groupName":"g","groupRetryPolicy":{"exponentialRetryPolicy":'
    b'{"initial":5000,"max":7200000,"multiplier":2},"type":"EXPONENTIAL"},"groupSysFlag":1,'
    b'"notifyConsumerIdsChangedEnable":false,"retryMaxTimes":3,"retryQueueNums":4,'
    b'"subscriptionDataSet":[{"expression":"*","expressionType":"TAG","topic":"T","version":7}],'
    b'"whichBrokerWhenConsumeSlowly":5}'
)
RICH_GROUP = GroupConfig(
    "g",
    is_enabled=False,
    reads_from_min=False,
    may_broadcast=False,
    is_orderly=True,
    retry_queues=4,
    retries_max=3,
    retry_policy={
        "exponentialRetryPolicy": {"initial": 5000, "max": 7200000, "multiplier": 2},
        "type": "EXPONENTIAL",
    },
    broker_id=2,
    slow_broker_id=5,
    notifies_changes=False,
    sys_flag=1,
    consume_timeout_minutes=20,
    subscriptions=[{"expression": "*", "expressionType": "TAG", "topic": "T", "version": 7}],
    attributes={"colour": "red"},
)


@pytest.mark.parametrize(("text", "group"), [(PLAIN, GroupConfig("g")), (RICH, RICH_GROUP)])
def test_a_group_is_written_and_read_as_apache_does(text: bytes, group: GroupConfig) -> None:
    assert encode_group_config(group) == text
    assert decode_group_config(text) == group


def test_what_a_group_does_not_say_has_its_default() -> None:
    assert group_config_from(Members({}, "it"), "g") == GroupConfig("g")


def test_the_key_in_the_table_is_the_name() -> None:
    assert group_config_from(Members({"groupName": "other"}, "it"), "g").name == "g"


def test_many_groups_are_read_in_their_order() -> None:
    body = b'{"groupConfigList":[' + RICH + b"," + PLAIN + b"]}"
    assert decode_group_configs(body) == [RICH_GROUP, GroupConfig("g")]
    assert decode_group_configs(b"{}") == []


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b'{"retryMaxTimes":"many"}', b'{"subscriptionDataSet":[1]}', b'{"groupName":1}'],
)
def test_what_is_no_group_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_group_config(body)


def test_what_a_peer_has_us_carry_is_bounded() -> None:
    long = {"type": "CUSTOMIZED", "next": "x" * CARRIED_BYTES_MAX}
    for text in (
        json.dumps({"groupName": "g", "groupRetryPolicy": long}),
        json.dumps({"groupName": "g", "subscriptionDataSet": [long]}),
    ):
        with pytest.raises(ProtocolError, match="bytes"):
            decode_group_config(text.encode())


def test_a_table_of_groups_is_written_as_apache_does() -> None:
    body = encode_group_table(DataVersion(0, 4, 50), [GroupConfig("g")], {"g": {"T": 4}})
    assert body == (
        b'{"dataVersion":{"counter":4,"stateVersion":0,"timestamp":50},'
        b'"forbiddenTable":{"g":{"T":4}},"subscriptionGroupTable":{"g":' + PLAIN + b"}}"
    )


def test_what_a_group_may_read_is_written_as_apache_does() -> None:
    body = encode_group_forbidden("g", "T", is_readable=False)
    assert body == b'{"group":"g","readable":false,"topic":"T"}'


def test_a_list_and_a_table_of_groups_are_read_again() -> None:
    groups = [GroupConfig("g", retries_max=3), GroupConfig("h", is_enabled=False)]
    assert decode_group_configs(encode_group_configs(groups)) == groups
    version = DataVersion(1, 2, 3)
    assert decode_group_table(encode_group_table(version, groups, {})) == (version, groups)


@pytest.mark.parametrize("is_readable", [True, False])
def test_whether_a_group_may_read_is_read_again(is_readable: bool) -> None:
    body = encode_group_forbidden("g", "T", is_readable=is_readable)
    assert decode_is_readable(body) == is_readable
