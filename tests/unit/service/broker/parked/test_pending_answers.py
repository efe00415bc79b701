from aerobee.ports.service import ChannelId
from aerobee.protocol.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting_command import RemotingCommand, decode, encode
from aerobee.service.broker.parked.pending_answers import AnswersInWait, PendingAnswers


def pending(end_offset: int, deadline_ms: int = 5000, answers: bytes = b"12345") -> PendingAnswers:
    return PendingAnswers(ChannelId(1), end_offset, answers, deadline_ms)


def test_an_answer_waits_until_the_disk_has_all_of_its_messages() -> None:
    waiting = AnswersInWait()
    first, second = pending(100), pending(200)
    waiting.add(first)
    waiting.add(second)
    assert waiting.size == 10
    assert waiting.take_flushed(99) == []
    assert waiting.take_flushed(199) == [first]
    assert (len(waiting), waiting.size) == (1, 5)
    assert waiting.take_flushed(200) == [second]


def test_what_waits_too_long_is_taken_out_once() -> None:
    waiting = AnswersInWait()
    late = pending(100, 1000)
    waiting.add(late)
    waiting.add(pending(200, 2000))
    assert waiting.take_late(999) == []
    assert waiting.take_late(1000) == [late]
    assert waiting.take_late(1000) == []
    assert len(waiting) == 1


def test_late_answers_say_that_nobody_knows_whether_it_is_safe() -> None:
    sent = [
        RemotingCommand(0, flag=1, opaque=number, ext_fields={"msgId": "A"}) for number in (7, 8)
    ]
    frames = b"".join(b"".join(encode(command)) for command in sent)
    reader = FrameReader(FrameLimits())
    reader.receive(pending(1, answers=frames).as_unsafe())
    said = []
    while reader.advance():
        command = decode(reader)
        said.append((command.code, command.opaque, command.ext_fields))
    assert said == [(10, 7, {"msgId": "A"}), (10, 8, {"msgId": "A"})]
