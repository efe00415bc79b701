import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.headers.topics import TopicHeader
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.question import ask, require
from tests.question_kit import answered, run_question


def test_a_question_is_a_request_with_its_header_and_returns_the_answer() -> None:
    asked: list[RemotingCommand] = []

    def answer(command: RemotingCommand) -> RemotingCommand:
        asked.append(command)
        return answered(17, remark="no such topic")

    found = run_question(ask(RequestCode.GET_TOPIC_CONFIG, TopicHeader("T")), answer)
    assert (found.code, found.remark) == (17, "no such topic")
    (command,) = asked
    assert (command.code, command.ext_fields) == (RequestCode.GET_TOPIC_CONFIG, {"topic": "T"})


def test_a_refusal_ends_a_question_that_needs_an_answer() -> None:
    question = require(RequestCode.GET_ALL_CONSUMER_OFFSET)
    with pytest.raises(RemoteProtocolError, match="GET_ALL_CONSUMER_OFFSET: not now"):
        run_question(question, lambda command: answered(1, remark="not now"))
    assert run_question(
        require(RequestCode.GET_ALL_CONSUMER_OFFSET), lambda command: answered(body=b"x")
    ).body == (b"x")
