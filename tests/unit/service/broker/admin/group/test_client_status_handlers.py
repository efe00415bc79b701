"""Unit tests of what clients tell administrators through the broker."""

from aerobee.protocol.remoting.command_header import RESPONSE_FLAG
from aerobee.protocol.remoting.remoting_command import RemotingCommand, reply_to
from aerobee.service.broker.admin.group.client_status_handlers import STATUS_MS
from tests.captured import captured
from tests.consumer_kit import ConsumerKit, channel_of

INFO = {"consumerGroup": "g", "clientId": "a", "jstackEnable": "false"}
STATUS = {"group": "g", "topic": "Orders"}
KEY = b'{"brokerName":"broker-a","queueId":0,"topic":"Orders"}'


def asked(kit: ConsumerKit, client: str) -> RemotingCommand:
    """The one question that was put to a client."""
    (question,) = kit.heard(client)
    assert not question.flag
    return question


def say(
    kit: ConsumerKit, client: str, question: RemotingCommand, body: bytes, code: int = 0
) -> None:
    answer = reply_to(question, code, remark="said", body=body)
    assert kit.calls.on_response(channel_of(client), answer)


def kit_with(*clients: str) -> ConsumerKit:
    kit = ConsumerKit()
    for client in clients:
        kit.beat(client)
    kit.news(*clients)
    return kit


def test_how_a_consumer_runs_is_told_in_its_own_words() -> None:
    (recorded, *_) = captured("GET_CONSUMER_RUNNING_INFO", "response")
    kit = kit_with("a", "b")
    kit.send(307, INFO)
    question = asked(kit, "a")
    assert (question.code, question.ext_fields) == (307, INFO)
    assert not kit.heard("b")
    say(kit, "a", question, bytes(recorded.body))
    answer = kit.answer()
    assert (answer.code, answer.remark, answer.flag) == (0, "said", RESPONSE_FLAG)
    assert answer.body == recorded.body


def test_a_client_that_is_not_there_cannot_be_asked() -> None:
    kit = kit_with("a")
    answer = kit.ask(307, {**INFO, "clientId": "x"})
    assert (answer.code, answer.remark) == (1, "The Consumer <g> <x> not online")
    assert kit.ask(223, {**STATUS, "group": "h"}).code == 1
    assert kit.ask(223, {**STATUS, "clientAddr": "x"}).code == 1
    assert not kit.outbox


def test_the_offsets_of_all_members_are_gathered() -> None:
    kit = kit_with("a", "b")
    kit.send(223, STATUS)
    first, second = asked(kit, "a"), asked(kit, "b")
    assert (first.code, first.ext_fields) == (221, STATUS)
    say(kit, "b", second, b'{"messageQueueTable":{' + KEY + b":9}}")
    assert not kit.outbox
    say(kit, "a", first, b'{"messageQueueTable":{}}')
    assert kit.answer().body == (
        b'{"consumerTable":{"b":{' + KEY + b':9},"a":{}},"messageQueueTable":{}}'
    )


def test_one_member_can_be_asked_alone() -> None:
    kit = kit_with("a", "b")
    kit.send(223, {**STATUS, "clientAddr": "b"})
    assert not kit.heard("a")
    say(kit, "b", asked(kit, "b"), b'{"messageQueueTable":{' + KEY + b":9}}")
    assert b'"b":{' in bytes(kit.answer().body)


def test_a_member_that_says_nothing_or_nonsense_is_left_out() -> None:
    kit = kit_with("a", "b", "c", "d")
    kit.send(223, STATUS)
    questions = {client: asked(kit, client) for client in "abcd"}
    say(kit, "a", questions["a"], b'{"messageQueueTable":{' + KEY + b":9}}")
    say(kit, "b", questions["b"], b"nonsense")
    say(kit, "c", questions["c"], b"", code=1)
    assert not kit.outbox
    kit.pass_time(STATUS_MS)
    answer = kit.answer()
    assert answer.code == 0
    assert answer.body == b'{"consumerTable":{"a":{' + KEY + b':9}},"messageQueueTable":{}}'


def test_a_group_of_which_nobody_answers_is_a_timeout() -> None:
    kit = kit_with("a", "b")
    kit.send(223, STATUS)
    kit.close("a")
    kit.heard("a")
    kit.heard("b")
    kit.pass_time(STATUS_MS - 1)
    assert not kit.outbox
    kit.pass_time(1)
    assert kit.answer().code == 207
