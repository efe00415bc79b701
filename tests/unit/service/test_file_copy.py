import zlib

import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.file_copy import STARTS_MAX, STATE_BYTES_MAX, copy_file
from tests.question_kit import answered, run_question

NAME = "stagedRounds.json"


class Master:
    """Answers with pieces of 10 bytes of what its file is at that moment."""

    def __init__(self, *contents: bytes) -> None:
        self.contents = list(contents)
        self.asked = 0

    def answer(self, command: RemotingCommand) -> RemotingCommand:
        self.asked += 1
        content = self.contents.pop(0) if len(self.contents) > 1 else self.contents[0]
        assert command.ext_fields["name"] == NAME
        position = int(command.ext_fields["position"])
        crc = str(zlib.crc32(content) if content else 0)
        piece = content[position : position + 10]
        if command.ext_fields["knownCrc"] == crc:
            piece = b""
        return answered(body=piece, size=str(len(content)), crc=crc)


@pytest.mark.parametrize("size", [0, 1, 10, 11, 35])
def test_a_file_comes_whole_in_pieces(size: int) -> None:
    content = bytes(range(size))
    master = Master(content)
    assert run_question(copy_file(NAME), master.answer) == content
    assert master.asked == max(1, -(-size // 10))


def test_a_file_that_is_known_does_not_come_again() -> None:
    content = b"x" * 35
    master = Master(content)
    assert run_question(copy_file(NAME, zlib.crc32(content)), master.answer) is None
    assert master.asked == 1
    assert run_question(copy_file(NAME, 0), Master(b"").answer) is None
    assert run_question(copy_file(NAME, 7), Master(b"").answer) == b""


def test_pieces_of_two_files_are_not_mixed() -> None:
    first, second = b"1" * 25, b"2" * 15
    assert run_question(copy_file(NAME), Master(first, second).answer) == second
    # As long as before, so that only the checksum tells.
    assert run_question(copy_file(NAME), Master(first, b"3" * 25).answer) == b"3" * 25


def test_a_file_that_changes_at_every_piece_ends_the_copy() -> None:
    contents = [b"%d" % number * 30 for number in range(10)] * STARTS_MAX
    with pytest.raises(RemoteProtocolError, match="faster"):
        run_question(copy_file(NAME), Master(*contents).answer)


@pytest.mark.parametrize(
    "answer",
    [
        answered(body=b"abc", size="3", crc="1"),
        answered(body=b"abcd", size="3", crc=str(zlib.crc32(b"abcd"))),
        answered(body=b"", size="3", crc="1"),
        answered(body=b"abc", size="-1", crc="1"),
        answered(body=b"abc", size=str(STATE_BYTES_MAX + 1), crc="1"),
        answered(body=b"abc"),
        answered(1, body=b"abc", size="3", crc=str(zlib.crc32(b"abc"))),
    ],
)
def test_an_answer_that_is_no_piece_of_a_file_is_refused(answer: RemotingCommand) -> None:
    with pytest.raises(RemoteProtocolError):
        run_question(copy_file(NAME), lambda command: answer)
