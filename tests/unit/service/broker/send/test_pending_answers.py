import pytest

from aerobee.ports.service import ChannelId
from aerobee.protocol.remoting.frame import (
    FRAME_BYTES_MAX,
    HEADER_BYTES_MAX,
    FrameLimits,
    FrameReader,
)
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode, encode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.send.pending_answers import AnswersInWait, PendingAnswers
from aerobee.storage.commit.commit_log import BATCH_ENTRIES_MAX


def pending(end_offset: int, deadline_ms: int = 5000, answers: bytes = b"12345") -> PendingAnswers:
    return PendingAnswers(ChannelId(1), end_offset, answers, deadline_ms)


def test_an_answer_waits_until_the_disk_has_all_of_its_messages() -> None:
    waiting = AnswersInWait()
    first, second = pending(100), pending(200)
    waiting.add(first)
    waiting.add(second)
    assert (waiting.size, waiting.requests()) == (10, 2)
    waiting.add(pending(300)._replace(requests=5))
    assert waiting.requests() == 7
    assert waiting.take_confirmed(99) == []
    assert waiting.take_confirmed(199) == [first]
    assert (len(waiting), waiting.size) == (2, 10)
    assert waiting.take_confirmed(200) == [second]


def test_what_waits_too_long_is_taken_out_once() -> None:
    waiting = AnswersInWait()
    late = pending(100, 1000)
    waiting.add(late)
    waiting.add(pending(200, 2000))
    assert waiting.take_late(999) == []
    assert waiting.take_late(1000) == [late]
    assert waiting.take_late(1000) == []
    assert len(waiting) == 1


@pytest.mark.parametrize(
    "code", [ResponseCode.FLUSH_DISK_TIMEOUT, ResponseCode.FLUSH_SLAVE_TIMEOUT]
)
@pytest.mark.parametrize("form", [0, 1])
def test_late_answers_say_why_nobody_knows_whether_it_is_safe(
    form: int, code: ResponseCode
) -> None:
    sent = [
        RemotingCommand(0, flag=1, opaque=number, ext_fields={"msgId": "A"}) for number in (7, 8)
    ]
    for command in sent:
        command.serialize_type = form
    frames = b"".join(b"".join(encode(command)) for command in sent)
    reader = FrameReader(FrameLimits())
    reader.receive(pending(1, answers=frames).as_unsafe(code))
    said = []
    while reader.advance():
        command = decode(reader)
        said.append((command.code, command.opaque, command.ext_fields))
    assert said == [(code, 7, {"msgId": "A"}), (code, 8, {"msgId": "A"})]


@pytest.mark.parametrize("form", [0, 1])
def test_the_late_answer_to_the_largest_batch_says_all_of_its_ids(form: int) -> None:
    ids = ",".join(f"{number:056X}" for number in range(BATCH_ENTRIES_MAX))
    sent = RemotingCommand(0, flag=1, ext_fields={"msgId": ids})
    sent.serialize_type = form
    reader = FrameReader(FrameLimits(FRAME_BYTES_MAX, HEADER_BYTES_MAX))
    code = ResponseCode.FLUSH_DISK_TIMEOUT
    reader.receive(pending(1, answers=b"".join(encode(sent))).as_unsafe(code))
    assert reader.advance()
    sent.code = code
    assert reader.header() == b"".join(encode(sent))[8:]
    assert not reader.advance()
    assert reader.pending_size() == 0
