import pytest

from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.gateway.broker_answers import REMARK_CHARS_MAX, answer_in

SENT = {"queueId": "1", "queueOffset": "7", "msgId": "7F00000100002A9F0000000000000009"}
POPPED = {"popTime": "1", "invisibleTime": "2", "reviveQid": "3", "restNum": "0"}
CHANGED = {"popTime": "1", "invisibleTime": "2", "reviveQid": "3"}
SOUND: dict[int, dict[str, str]] = {
    RequestCode.SEND_MESSAGE_V2: SENT,
    RequestCode.POP_MESSAGE: POPPED,
    RequestCode.CHANGE_MESSAGE_INVISIBLETIME: CHANGED,
}


@pytest.mark.parametrize("code", SOUND)
def test_an_answer_that_lacks_a_field_or_has_another_kind_of_value_is_a_failure(code: int) -> None:
    sound = SOUND[code]
    for name in sound:
        for fields in ({**sound, name: "nonsense"}, {k: v for k, v in sound.items() if k != name}):
            answer = answer_in(code, "a:1", RemotingCommand(0, ext_fields=fields))
            assert answer.code is ResponseCode.SYSTEM_ERROR
            assert "a:1" in answer.remark
    good = answer_in(code, "a:1", RemotingCommand(0, ext_fields=sound, body=b"x"))
    assert (good.code, good.fields, good.body) == (ResponseCode.SUCCESS, sound, b"x")


def test_no_answer_is_a_timeout_and_a_code_that_nobody_knows_an_error() -> None:
    assert answer_in(310, "a:1", None).code is ResponseCode.RPC_TIME_OUT
    unknown = answer_in(310, "a:1", RemotingCommand(4711, remark="odd"))
    assert unknown.code is ResponseCode.SYSTEM_ERROR
    assert "4711: odd" in unknown.remark


def test_a_refusal_is_passed_on_with_a_part_of_its_remark() -> None:
    refused = answer_in(310, "a:1", RemotingCommand(16, remark="x" * 10_000))
    assert refused.code is ResponseCode.NO_PERMISSION
    assert refused.remark == "x" * REMARK_CHARS_MAX
