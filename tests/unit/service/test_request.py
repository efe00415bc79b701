from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Effects, Reply
from aerobee.protocol.remoting.command_header import BINARY_TYPE, ONEWAY_FLAG
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.request import OK, Answer, Request, answer_with

CHANNEL = ChannelId(3)


def request(command: RemotingCommand) -> tuple[Request, Effects]:
    outbox: Effects = []
    return Request(CHANNEL, command, Now(0, 0), outbox), outbox


def test_an_answer_goes_back_where_its_request_came_from_in_the_same_form() -> None:
    command = RemotingCommand(105, opaque=9)
    command.serialize_type = BINARY_TYPE
    asked, outbox = request(command)
    asked.answer(Answer(ResponseCode.TOPIC_NOT_EXIST, "none", {"a": "b"}, b"body"))
    (effect,) = outbox
    assert isinstance(effect, Reply)
    answer = effect.command
    assert effect.channel == CHANNEL
    assert (answer.code, answer.opaque, answer.remark) == (17, 9, "none")
    assert (answer.ext_fields, answer.body) == ({"a": "b"}, b"body")
    assert answer.is_response
    assert answer.serialize_type == BINARY_TYPE


def test_a_request_that_nobody_waits_for_is_not_answered() -> None:
    asked, outbox = request(RemotingCommand(105, flag=ONEWAY_FLAG))
    asked.answer(OK)
    asked.answer_when_saved(OSError("full"))
    assert outbox == []


def test_a_change_that_was_not_saved_says_why() -> None:
    asked, outbox = request(RemotingCommand(100))
    asked.answer_when_saved(None)
    asked.answer_when_saved(OSError("full"))
    said = [(e.command.code, e.command.remark) for e in outbox if isinstance(e, Reply)]
    assert said == [(0, ""), (1, "it was not saved: full")]


def test_the_body_outlives_what_was_received() -> None:
    received = bytearray(b"body")
    asked, _ = request(RemotingCommand(103, body=memoryview(received)))
    received[:] = b"gone"
    assert asked.body == b"body"


def test_a_request_that_waits_keeps_what_its_answer_needs_and_nothing_else() -> None:
    command = RemotingCommand(11, opaque=9, ext_fields={"a": "b" * 1000}, body=bytes(1000))
    asked, outbox = request(command)
    answer_with(lambda one: None, asked)
    assert (asked.body, command.body, command.ext_fields) == (b"", b"", {})
    assert asked.fields.optional_text("a") == ""
    asked.answer(OK)
    (effect,) = outbox
    assert isinstance(effect, Reply)
    assert (effect.command.opaque, effect.channel) == (9, CHANNEL)


def test_who_listens_hears_of_every_answer_that_is_given() -> None:
    heard: list[tuple[int, ResponseCode, bool]] = []

    def hear(request: Request, code: ResponseCode) -> None:
        heard.append((request.command.code, code, request.is_held))

    request = Request(ChannelId(1), RemotingCommand(11), Now(0, 0), [], hear)
    assert heard == []
    request.is_held = True
    request.answer(Answer(ResponseCode.PULL_NOT_FOUND))
    oneway = Request(ChannelId(1), RemotingCommand(15, flag=ONEWAY_FLAG), Now(0, 0), [], hear)
    oneway.answer(Answer())
    assert heard == [(11, ResponseCode.PULL_NOT_FOUND, True)]
