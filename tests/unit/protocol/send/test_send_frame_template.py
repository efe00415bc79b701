import pytest

from aerobee.errors import Misuse
from aerobee.model.properties import decode_properties
from aerobee.protocol.message.message_batch import BatchMessage, decode_batch
from aerobee.protocol.remoting.command_header import BINARY_TYPE, CommandHeader
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer
from aerobee.protocol.send.send_frame_template import SendFrameTemplate, cut_batch

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
    mould = SendFrameTemplate(HEADER, b"INSTANCE_ID\x01shop\x02")
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


@pytest.mark.parametrize("texts", [None, [b"TAGS\x01a\x02", b"KEYS\x01some\x02w\x012\x02"]])
def test_a_batch_is_written_entry_by_entry(texts: list[bytes] | None) -> None:
    output = ReplyBuffer()
    mould = SendFrameTemplate(HEADER, b"v\x011\x02")
    bodies = [b"a", b"bc" * 40_000]
    text = b"" if texts else b"u\x013\x02"
    size = mould.batch_size(bodies, texts, len(text), 2)
    mould.begin(output, 5, BORN, 3, size)
    output.append(b"a\x01b")
    for number, body in enumerate(bodies):
        mould.put_entry(output, b"I%d" % number, texts[number] if texts else text, body)
    (batch,) = written(output)
    assert len(batch.body) == size
    assert batch.ext_fields["i"] == "a\x01b"
    assert decode_batch(bytes(batch.body)) == [
        BatchMessage(
            body,
            {
                "UNIQ_KEY": f"I{number}",
                "v": "1",
                **decode_properties(texts[number] if texts else text),
            },
        )
        for number, body in enumerate(bodies)
    ]


@pytest.mark.parametrize("bodies", [[b"a", "b"], [b"a", b""], [bytearray(b"a")]])
def test_what_is_not_plain_bytes_has_no_size_and_no_cuts(bodies: list[object]) -> None:
    assert SendFrameTemplate(HEADER).batch_size(bodies, None, 0, 32) == -1
    assert cut_batch(bodies, None, 60, 1000, 500) is None


def test_a_batch_whose_texts_do_not_fit_has_no_size() -> None:
    mould = SendFrameTemplate(HEADER, b"v\x011\x02")
    fitting = 32767 - len("UNIQ_KEY\x01ID\x02v\x011\x02")
    assert mould.batch_size([b"a"], None, fitting, 2) == 22 + 32767 + 1
    assert mould.batch_size([b"a"], None, fitting + 1, 2) == -1
    assert mould.batch_size([b"a", b"b"], [b"", b"x" * fitting], 0, 2) > 32767
    assert mould.batch_size([b"a", b"b"], [b"", b"x" * (fitting + 1)], 0, 2) == -1
    assert mould.batch_size([b"a", b"b"], [b""], 0, 2) == -1
    assert mould.batch_size([b"a"], ["text"], 0, 2) == -1


def test_a_batch_is_cut_where_one_more_would_be_too_many_or_too_large() -> None:
    bodies = [b"x" * 10] * 7
    assert cut_batch(bodies, None, 30, 1000, 3) == [3, 6, 7]
    assert cut_batch(bodies, None, 30, 1000, 7) == [7]
    assert cut_batch(bodies, None, 30, 80, 500) == [2, 4, 6, 7]
    assert cut_batch(bodies, None, 30, 119, 500) == [2, 4, 6, 7]
    assert cut_batch(bodies, None, 30, 120, 500) == [3, 6, 7]
    assert cut_batch(bodies, [b"", b"t" * 40, b"", b"", b"", b"", b""], 30, 120, 500) == [2, 5, 7]
    assert cut_batch([], None, 30, 120, 500) == []


def test_a_message_that_no_part_has_room_for_is_refused() -> None:
    assert cut_batch([b"x", b"x" * 70], None, 30, 100, 500) == [1, 2]
    with pytest.raises(Misuse, match="a message of 101 bytes in a batch; at most 100") as caught:
        cut_batch([b"x", b"x" * 71], None, 30, 100, 500)
    assert "max_message_bytes" in caught.value.hint
    assert cut_batch([b"x"], [b"t" * 32757], 32, 1 << 20, 500) == [1]
    with pytest.raises(Misuse, match="32768 bytes of properties"):
        cut_batch([b"x"], [b"t" * 32758], 32, 1 << 20, 500)


def test_properties_that_do_not_fit_are_refused_before_anything_is_written() -> None:
    output = ReplyBuffer()
    mould = SendFrameTemplate(HEADER)
    fitting = 32767 - len("UNIQ_KEY\x01ID\x02")
    with pytest.raises(Misuse, match="32768 bytes of properties"):
        mould.put(output, 1, BORN, b"ID", b"x" * (fitting + 1), b"body")
    assert output.position == 0
    mould.put(output, 1, BORN, b"ID", b"x" * fitting, b"body")
    assert len(written(output)[0].ext_fields["i"]) == 32767
