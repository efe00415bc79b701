import pytest

from aerobee.protocol.remoting.command_header import BINARY_TYPE, RESPONSE_FLAG
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.protocol.send.send_answer_reader import SendAnswerReader

FIELDS = {
    "MSG_REGION": "DefaultRegion",
    "TRACE_ON": "true",
    "msgId": "C0A8010A00002A9F0000000000001000",
    "queueId": "3",
    "queueOffset": "12345678901",
    "transactionId": "U",
}


def read(
    *,
    code: int = 0,
    flag: int = RESPONSE_FLAG,
    remark: str = "",
    kind: int = BINARY_TYPE,
    **changed: str | None,
) -> SendAnswerReader | None:
    fields = {name: text for name, text in {**FIELDS, **changed}.items() if text is not None}
    command = RemotingCommand(code, flag=flag, opaque=7, remark=remark, ext_fields=fields)
    command.serialize_type = kind
    frames = FrameReader()
    frames.receive(b"".join(encode(command)))
    assert frames.advance()
    answer = SendAnswerReader()
    return answer if answer.read(frames) else None


@pytest.mark.parametrize("code", [0, 10, 11, 12])
def test_what_is_stored_is_read(code: int) -> None:
    answer = read(code=code)
    assert answer is not None
    assert answer.code == code
    assert answer.ids == FIELDS["msgId"].encode()
    assert (answer.queue_id, answer.queue_offset) == (3, 12345678901)


def test_fields_that_change_nothing_may_be_there_or_not() -> None:
    assert read(MSG_REGION=None, TRACE_ON=None, transactionId=None) is not None
    assert read(batchUniqId="x") is not None


@pytest.mark.parametrize(
    "unusual",
    [
        {"code": 1},
        {"code": 9},
        {"code": 13},
        {"flag": 0},
        {"remark": "so"},
        {"kind": 0},
        {"msgId": None},
        {"msgId": ""},
        {"queueId": None},
        {"queueId": "x"},
        {"queueId": "99999999999"},
        {"queueOffset": None},
        {"queueOffset": ""},
        {"recallHandle": "h"},
        {"another": "1"},
    ],
    ids=str,
)
def test_whatever_is_unusual_is_left_to_the_general_codec(unusual: dict[str, object]) -> None:
    assert read(**unusual) is None  # type: ignore[arg-type]
