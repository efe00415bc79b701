import pytest

from aerobee.errors import Misuse
from aerobee.model.properties import decode_properties
from aerobee.protocol.command_header import BINARY_TYPE, CommandHeader
from aerobee.protocol.frame import FrameReader
from aerobee.protocol.message_batch import BatchMessage, decode_batch
from aerobee.protocol.remoting_command import RemotingCommand, decode
from aerobee.protocol.reply_buffer import ReplyBuffer
from aerobee.protocol.send_mould import SendMould

FIELDS = {"a": "group", "b": "topic", "e": "3", "f": "0", "g": "0", "h": "0", "i": "", "n": "b-a"}
HEADER = CommandHeader(310, version=513, language="PYTHON", ext_fields=FIELDS)
BORN = 1_767_268_800_123


def written(output: ReplyBuffer) -> list[RemotingCommand]:
    frames = FrameReader()
    frames.receive(output.take())
    found = []
    while frames.advance():
        found.append(decode(frames))
    assert frames.pending_size() == 0
    return found


def test_the_general_codec_reads_what_the_mould_says() -> None:
    output = ReplyBuffer()
    mould = SendMould(HEADER, b"INSTANCE_ID\x01shop\x02")
    mould.put(output, 0x7FFFFFFF, BORN, b"ID-1", b"TAGS\x01a\x02", b"body")
    mould.put(output, 1, BORN + 1, b"ID-2", b"", b"x" * 100_000)
    first, second = written(output)
    assert (first.code, first.opaque, first.flag, first.version) == (310, 0x7FFFFFFF, 0, 513)
    assert (first.language, first.serialize_type) == ("PYTHON", BINARY_TYPE)
    properties = first.ext_fields.pop("i").encode()
    assert decode_properties(properties) == {"UNIQ_KEY": "ID-1", "INSTANCE_ID": "shop", "TAGS": "a"}
    rest = {name: text for name, text in FIELDS.items() if name not in "gi"}
    assert first.ext_fields == {**rest, "g": str(BORN)}
    assert first.body == b"body"
    assert (second.opaque, second.ext_fields["g"]) == (1, str(BORN + 1))
    assert second.body == b"x" * 100_000


def test_a_batch_is_written_entry_by_entry() -> None:
    output = ReplyBuffer()
    mould = SendMould(HEADER, b"v\x011\x02")
    bodies = [b"a", b"bc" * 40_000]
    size = mould.batch_size(bodies, 2)
    mould.begin(output, 5, BORN, 3, size)
    output.append(b"a\x01b")
    for number, body in enumerate(bodies):
        mould.put_entry(output, b"I%d" % number, body)
    (batch,) = written(output)
    assert len(batch.body) == size
    assert batch.ext_fields["i"] == "a\x01b"
    assert decode_batch(bytes(batch.body)) == [
        BatchMessage(body, {"UNIQ_KEY": f"I{number}", "v": "1"})
        for number, body in enumerate(bodies)
    ]


@pytest.mark.parametrize("bodies", [[b"a", "b"], [b"a", b""], [bytearray(b"a")]])
def test_what_is_not_plain_bytes_has_no_size(bodies: list[object]) -> None:
    assert SendMould(HEADER).batch_size(bodies, 32) == -1


def test_properties_that_do_not_fit_are_refused_before_anything_is_written() -> None:
    output = ReplyBuffer()
    mould = SendMould(HEADER)
    fitting = 32767 - len("UNIQ_KEY\x01ID\x02")
    with pytest.raises(Misuse, match="32768 bytes of properties"):
        mould.put(output, 1, BORN, b"ID", b"x" * (fitting + 1), b"body")
    assert output.position == 0
    mould.put(output, 1, BORN, b"ID", b"x" * fitting, b"body")
    assert len(written(output)[0].ext_fields["i"]) == 32767
