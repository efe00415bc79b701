import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.headers.popping import (
    AckHeader,
    InvisibleTimeAnswerHeader,
    InvisibleTimeHeader,
    NotificationAnswerHeader,
    PopAnswerHeader,
    PopHeader,
)
from aerobee.protocol.remoting.declared_header import read_header, write_header
from tests.captured import captured


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("POP_MESSAGE", PopHeader),
        ("ACK_MESSAGE", AckHeader),
        ("CHANGE_MESSAGE_INVISIBLETIME", InvisibleTimeHeader),
    ],
)
def test_requests_of_a_real_client_are_read_and_written_again(name: str, kind: type) -> None:
    for request in captured(name, "request"):
        written = write_header(read_header(kind, request.ext_fields))
        said = {key: text for key, text in request.ext_fields.items() if key != "bname"}
        assert {key: written[key] for key in said} == said


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("POP_MESSAGE", PopAnswerHeader),
        ("CHANGE_MESSAGE_INVISIBLETIME", InvisibleTimeAnswerHeader),
    ],
)
def test_answers_of_apache_are_read_and_written_again(name: str, kind: type) -> None:
    for answer in captured(name, "response"):
        assert write_header(read_header(kind, answer.ext_fields)) == answer.ext_fields


def test_a_pop_must_say_how_long_messages_are_hidden() -> None:
    with pytest.raises(RemoteProtocolError, match="invisibleTime"):
        read_header(
            PopHeader, {"consumerGroup": "g", "topic": "T", "queueId": "0", "maxMsgNums": "1"}
        )


def test_truth_is_written_as_java_reads_it() -> None:
    assert write_header(NotificationAnswerHeader(True)) == {
        "hasMsg": "true",
        "pollingFull": "false",
    }
