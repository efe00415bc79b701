from aerobee.protocol.consume.pull_answer import PullAnswer
from aerobee.protocol.remoting.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer


def read_all(output: ReplyBuffer) -> list[RemotingCommand]:
    frames = FrameReader(FrameLimits())
    frames.receive(output.take())
    commands = []
    while frames.advance():
        command = decode(frames)
        command.body = bytes(command.body)
        commands.append(command)
    assert frames.pending_size() == 0
    return commands


def test_an_answer_says_what_a_client_looks_for_and_holds_what_was_appended() -> None:
    output, answer = ReplyBuffer(), PullAnswer()
    answer.begin(output)
    output.append(b"a record")
    output.append(b", another")
    answer.end(303, 39, 7, 1000, 2, 4)
    (said,) = read_all(output)
    assert said == RemotingCommand(
        0,
        flag=1,
        opaque=303,
        remark="FOUND",
        ext_fields={
            "suggestWhichBrokerId": "0",
            "nextBeginOffset": "39",
            "minOffset": "7",
            "maxOffset": "1000",
            "topicSysFlag": "2",
            "groupSysFlag": "4",
        },
        body=b"a record, another",
    )


def test_the_longest_numbers_fit() -> None:
    output, answer = ReplyBuffer(), PullAnswer()
    answer.begin(output)
    output.append(b"x")
    low = -(2**31)
    answer.end(low, 2**63 - 1, 2**63 - 1, 2**63 - 1, low, low)
    (said,) = read_all(output)
    assert said.opaque == low
    assert said.ext_fields["maxOffset"] == str(2**63 - 1)
    assert said.body == b"x"


def test_what_was_begun_in_vain_leaves_nothing() -> None:
    output, answer = ReplyBuffer(), PullAnswer()
    output.append(b"before")
    answer.begin(output)
    output.append(b"messages")
    answer.undo()
    assert output.take() == b"before"


def test_answers_stand_behind_one_another_and_the_buffer_grows() -> None:
    output, answer = ReplyBuffer(), PullAnswer()
    for number in range(500):
        answer.begin(output)
        output.append(b"m" * number)
        answer.end(number, 1, 0, 1, 0, 0)
    said = read_all(output)
    assert [(one.opaque, len(one.body)) for one in said] == [(n, n) for n in range(500)]
