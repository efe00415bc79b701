import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.headers.group_status import (
    BrokerConsumeStatsHeader,
    CloneOffsetsHeader,
    ConsumeDirectlyHeader,
    ConsumerStatusHeader,
    ConsumeStatsHeader,
    CorrectionHeader,
    GroupTopicHeader,
    ResetOffsetHeader,
    RunningInfoHeader,
)
from aerobee.protocol.remoting.declared_header import read_header, write_header
from tests.captured import captured


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("GET_CONSUME_STATS", ConsumeStatsHeader),
        ("GET_BROKER_CONSUME_STATS", BrokerConsumeStatsHeader),
        ("INVOKE_BROKER_TO_RESET_OFFSET", ResetOffsetHeader),
        ("GET_CONSUMER_RUNNING_INFO", RunningInfoHeader),
        ("CONSUME_MESSAGE_DIRECTLY", ConsumeDirectlyHeader),
    ],
)
def test_captured_fields_are_all_read(name: str, header: type[object]) -> None:
    for command in captured(name, "request"):
        written = write_header(read_header(header, command.ext_fields))
        assert {**written, **command.ext_fields} == written  # what is not said has its default


def test_what_the_broker_adds_is_written_only_when_it_is_known() -> None:
    plain = write_header(ConsumeDirectlyHeader("g", "c", "id", "T"))
    assert set(plain) == {"consumerGroup", "clientId", "msgId", "topic"}
    told = write_header(ConsumeDirectlyHeader("g", "c", "id", "T", "b", 0, 1))
    assert told == {**plain, "brokerName": "b", "topicSysFlag": "0", "groupSysFlag": "1"}


def test_a_reset_without_a_time_is_refused() -> None:
    with pytest.raises(RemoteProtocolError, match="timestamp"):
        read_header(ResetOffsetHeader, {"group": "g", "topic": "T"})
    header = read_header(ResetOffsetHeader, {"group": "g", "topic": "T", "timestamp": "5"})
    assert (header.queue_id, header.offset) == (-1, -1)


def test_the_fields_have_javas_names() -> None:
    assert set(write_header(CloneOffsetsHeader("a", "b"))) == {
        "srcGroup",
        "destGroup",
        "topic",
        "offline",
    }
    assert set(write_header(CorrectionHeader("T", "g"))) == {
        "topic",
        "compareGroup",
        "filterGroups",
    }
    assert set(write_header(ConsumerStatusHeader("g", "T"))) == {"group", "topic", "clientAddr"}
    assert set(write_header(GroupTopicHeader("g", "T"))) == {"group", "topic"}
    assert set(write_header(ConsumeStatsHeader("g"))) == {"consumerGroup", "topic", "topicList"}
