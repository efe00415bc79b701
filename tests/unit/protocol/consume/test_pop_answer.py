from aerobee.protocol.consume.pop_answer import PopAnswer
from aerobee.protocol.consume.pop_receipt import PoppedRun
from aerobee.protocol.headers.popping import PopAnswerHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode

RUNS = [PoppedRun("0", 3, [7, 9]), PoppedRun("0", 0, [2**63 - 1])]


def test_it_says_what_the_general_codec_would() -> None:
    answer = PopAnswer(1_700_000_000_000, 60_000, 5, 12, RUNS)
    frames = FrameReader(FrameLimits())
    frames.receive(answer.head(-303, 8) + b"a record")
    assert frames.advance()
    header = PopAnswerHeader(
        1_700_000_000_000,
        60_000,
        5,
        12,
        "0 3 7;0 0 9223372036854775807",
        "0 3 7,9;0 0 9223372036854775807",
    )
    assert decode(frames) == RemotingCommand(
        0, flag=1, opaque=-303, remark="FOUND", ext_fields=write_header(header), body=b"a record"
    )
    assert frames.pending_size() == 0
