import pytest

from aerobee.protocol.consume.success_answer import SuccessAnswer
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.protocol.remoting.reply_buffer import START_BYTES, ReplyBuffer


@pytest.mark.parametrize("opaque", [0, 7, -1, 2**31 - 1, -(2**31)])
def test_it_is_what_the_general_codec_writes(opaque: int) -> None:
    output = ReplyBuffer()
    SuccessAnswer().put(output, opaque)
    assert output.take() == b"".join(encode(RemotingCommand(0, flag=1, opaque=opaque)))


def test_answers_lie_behind_each_other_however_many() -> None:
    output, answer = ReplyBuffer(), SuccessAnswer()
    output.append(b"before")
    answer.put(output, 1)
    size = output.position - len(b"before")
    for _ in range(START_BYTES // size + 1):
        answer.put(output, 2)
    data = output.take()
    assert data.startswith(b"before")
    assert len(data) == len(b"before") + (START_BYTES // size + 2) * size
    assert data.endswith(b"".join(encode(RemotingCommand(0, flag=1, opaque=2))))
