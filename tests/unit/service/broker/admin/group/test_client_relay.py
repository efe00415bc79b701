"""Unit tests of questions to clients: each is answered, by the client or by its silence."""

from aerobee.protocol.remoting.remoting_command import RemotingCommand, reply_to
from aerobee.service.broker.admin.group.client_relay import RELAY_MS, passed_on
from tests.consumer_kit import ConsumerKit, channel_of

INFO = {"consumerGroup": "g", "clientId": "a"}


def kit_that_asked() -> ConsumerKit:
    kit = ConsumerKit()
    kit.beat("a")
    kit.news("a")
    kit.send(307, INFO)
    return kit


def test_a_client_that_does_not_answer_in_time_is_a_timeout() -> None:
    kit = kit_that_asked()
    (question,) = kit.heard("a")
    kit.pass_time(RELAY_MS - 1)
    assert not kit.outbox
    kit.pass_time(1)
    answer = kit.answer()
    assert (answer.code, answer.remark) == (207, "consumer <g> <a> did not answer in time")
    assert not kit.calls.on_response(channel_of("a"), reply_to(question, 0))
    assert not kit.outbox


def test_a_connection_that_closes_is_a_timeout_at_once() -> None:
    kit = kit_that_asked()
    kit.heard("a")
    kit.close("a")
    assert kit.answer().code == 207


def test_what_a_client_says_is_passed_on_whole() -> None:
    said = RemotingCommand(1, remark="no", ext_fields={"a": "b"}, body=b"body")
    answer = passed_on(said, "it")
    assert (answer.code, answer.remark, answer.fields, answer.body) == (
        1,
        "no",
        {"a": "b"},
        b"body",
    )


def test_a_code_that_nobody_knows_is_an_error_that_names_it() -> None:
    answer = passed_on(RemotingCommand(4711, remark="odd"), "it")
    assert (answer.code, answer.remark) == (1, "it answered 4711: odd")
