import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.headers.transactions import (
    CheckTransactionHeader,
    EndTransactionHeader,
    OpenTransactionsHeader,
    ResumeCheckHeader,
)
from aerobee.protocol.remoting.declared_header import read_header, write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from tests.conversation import conversations

NAMES = ("java-4.9.8-transaction", "java-5.5.0-transaction")


def captured(code: int) -> list[RemotingCommand]:
    """What Java's producers and Apache's broker wrote."""
    return [
        event.command
        for name in NAMES
        for event in conversations()[name].events
        if event.command is not None and event.command.code == code
    ]


def test_what_producers_wrote_is_read_and_written_back_whole() -> None:
    commands = captured(37)
    headers = [read_header(EndTransactionHeader, command.ext_fields) for command in commands]
    for header, command in zip(headers, commands, strict=True):
        assert write_header(header) == command.ext_fields
    assert {header.commit_or_rollback for header in headers} == {0, 8, 12}
    assert {header.from_transaction_check for header in headers} == {True, False}


def test_what_brokers_asked_is_read_and_written_back_whole() -> None:
    commands = captured(39)
    assert commands
    for command in commands:
        header = read_header(CheckTransactionHeader, command.ext_fields)
        assert write_header(header) == command.ext_fields
        assert header.topic == "RMQ_SYS_TRANS_HALF_TOPIC"


@pytest.mark.parametrize(
    "name", ["producerGroup", "tranStateTableOffset", "commitLogOffset", "commitOrRollback"]
)
def test_an_end_without_what_names_the_transaction_is_refused(name: str) -> None:
    fields = {
        "producerGroup": "g",
        "tranStateTableOffset": "1",
        "commitLogOffset": "2",
        "commitOrRollback": "8",
    }
    assert read_header(EndTransactionHeader, fields).from_transaction_check is False
    del fields[name]
    with pytest.raises(RemoteProtocolError, match=name):
        read_header(EndTransactionHeader, fields)


def test_a_list_is_of_all_groups_from_the_beginning_unless_it_is_said() -> None:
    header = read_header(OpenTransactionsHeader, {})
    assert (header.producer_group, header.offset, header.max_num) == ("", 0, 32)


def test_only_a_message_that_is_named_is_resumed() -> None:
    assert read_header(ResumeCheckHeader, {"msgId": "7F"}).message_id == "7F"
    with pytest.raises(RemoteProtocolError, match="msgId"):
        read_header(ResumeCheckHeader, {"topic": "T"})


def test_a_question_of_rocketmq_4_names_no_topic() -> None:
    said = {
        "tranStateTableOffset": "1",
        "commitLogOffset": "2",
        "transactionId": "7F",
        "msgId": "7F",
        "offsetMsgId": "00",
    }
    header = read_header(CheckTransactionHeader, said)
    assert (header.topic, header.broker_name, header.commit_log_offset) == ("", "", 2)
