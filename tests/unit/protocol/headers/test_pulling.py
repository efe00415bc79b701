import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.headers.pulling import (
    COMMIT_OFFSET,
    SUBSCRIPTION,
    SUSPEND,
    PullAnswerHeader,
    PullHeader,
)
from aerobee.protocol.remoting.declared_header import read_header, write_header
from tests.captured import captured

REQUIRED = {
    "consumerGroup": "g",
    "topic": "T",
    "queueId": "3",
    "queueOffset": "12345678901",
    "maxMsgNums": "32",
}


@pytest.mark.parametrize("name", ["PULL_MESSAGE", "LITE_PULL_MESSAGE"])
def test_pulls_of_real_clients_are_read_and_written_again(name: str) -> None:
    for pull in captured(name, "request"):
        header = read_header(PullHeader, pull.ext_fields)
        written = write_header(header)
        # Fields without a meaning for a broker of one process are left out.
        unknown = {"bname", "maxMsgBytes", "requestSource", "lo", "ns", "nsd", "oway", "ReqT"}
        unknown |= {"proxyFrowardClientId"}
        expected = {key: text for key, text in pull.ext_fields.items() if key not in unknown}
        assert {key: written[key] for key in expected} == expected


def test_answers_of_apache_are_read_and_written_again() -> None:
    answers = [one for one in captured("PULL_MESSAGE", "response") if one.code in (0, 19, 20, 21)]
    assert answers
    for answer in answers:
        header = read_header(PullAnswerHeader, answer.ext_fields)
        written = write_header(header)
        assert {key: written[key] for key in answer.ext_fields} == answer.ext_fields


def test_what_a_pull_cannot_do_without_is_named() -> None:
    assert read_header(PullHeader, REQUIRED).queue_offset == 12345678901
    for name in REQUIRED:
        fields = {key: text for key, text in REQUIRED.items() if key != name}
        with pytest.raises(RemoteProtocolError, match=name):
            read_header(PullHeader, fields)


def test_a_pull_without_the_rest_commits_nothing_waits_for_nothing_and_wants_everything() -> None:
    header = read_header(PullHeader, REQUIRED)
    assert not header.sys_flag & (COMMIT_OFFSET | SUSPEND | SUBSCRIPTION)
    assert (header.commit_offset, header.suspend_timeout_millis) == (0, 0)
    assert (header.subscription, header.expression_type) == ("*", "")


@pytest.mark.parametrize(
    ("name", "text"),
    [("queueId", "2147483648"), ("queueOffset", "1.0"), ("sysFlag", "x"), ("subVersion", "-")],
)
def test_a_number_that_is_none_is_named(name: str, text: str) -> None:
    with pytest.raises(RemoteProtocolError, match=name):
        read_header(PullHeader, {**REQUIRED, name: text})
