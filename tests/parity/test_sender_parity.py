"""Requests and answers of a client that sends: compiled against uncompiled, and against the
general codec."""

from importlib import import_module
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aerobee._compiled import is_compiled
from aerobee.errors import ProtocolError
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode, encode
from tests.pure import pure

pytestmark = pytest.mark.skipif(
    not is_compiled("aerobee.protocol.send.send_frame_template"), reason="nothing is compiled"
)

FIELDS = {"a": "group", "b": "topic", "e": "3", "f": "0", "g": "0", "i": ""}
NUMBERS = st.integers(-(2**64), 2**64).map(str)
NAMES = st.sampled_from(["msgId", "queueId", "queueOffset", "recallHandle", "queueid", "msgIdx"])
ANSWERS = st.one_of(
    st.fixed_dictionaries(
        {
            "msgId": st.text(max_size=8),
            "queueId": st.integers(0, 2**31 - 1).map(str) | NUMBERS,
            "queueOffset": st.integers(0, 2**63 - 1).map(str) | NUMBERS,
        },
        optional=dict.fromkeys(
            ["MSG_REGION", "TRACE_ON", "transactionId", "batchUniqId"], st.text(max_size=8)
        ),
    ),
    st.dictionaries(NAMES, st.text(max_size=8) | NUMBERS, max_size=6),
)


def written(load: Any, calls: list[tuple[int, int, bytes, bytes, bytes]]) -> bytes:
    header = load("aerobee.protocol.remoting.command_header").CommandHeader(
        310, ext_fields=dict(FIELDS)
    )
    mould = load("aerobee.protocol.send.send_frame_template").SendFrameTemplate(
        header, b"v\x011\x02"
    )
    output = load("aerobee.protocol.remoting.reply_buffer").ReplyBuffer()
    for call in calls:
        mould.put(output, *call)
    bodies, texts = [call[-1] for call in calls], [call[-2] for call in calls]
    for own in (None, texts):
        size = mould.batch_size(bodies, own, 2, 4)
        if size > 0:
            mould.begin(output, 1, 10**12, 3, size)
            output.append(b"a\x01b")
            for number, body in enumerate(bodies):
                mould.put_entry(output, b"1234", b"ab" if own is None else own[number], body)
    return bytes(output.take())


def read(load: Any, frame: bytes) -> tuple[object, ...] | None:
    frames = load("aerobee.protocol.remoting.frame").FrameReader()
    frames.receive(frame)
    assert frames.advance()
    answer = load("aerobee.protocol.send.send_answer_reader").SendAnswerReader()
    if not answer.read(frames):
        return None
    return (answer.code, answer.ids, answer.queue_id, answer.queue_offset)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 0x7FFFFFFF),
            st.integers(10**12, 10**13 - 1),
            st.binary(max_size=40),
            st.binary(max_size=40),
            st.binary(max_size=70_000),
        ),
        max_size=4,
    )
)
def test_moulds_write_the_same(calls: list[tuple[int, int, bytes, bytes, bytes]]) -> None:
    assert written(import_module, calls) == written(pure, calls)


def cuts(load: Any, *arguments: object) -> object:
    try:
        return load("aerobee.protocol.send.send_frame_template").cut_batch(*arguments)
    except load("aerobee.errors").Misuse as error:
        return str(error)


@given(
    st.lists(st.tuples(st.binary(max_size=60), st.binary(max_size=60)), max_size=12),
    st.booleans(),
    st.integers(22, 60),
    st.integers(1, 200),
    st.integers(1, 12),
)
def test_batches_are_cut_the_same_and_into_parts_that_fit(
    messages: list[tuple[bytes, bytes]], has_texts: bool, each: int, bytes_max: int, count_max: int
) -> None:
    bodies, texts = [body for body, _ in messages], [text for _, text in messages]
    own = texts if has_texts else None
    ends = cuts(import_module, bodies, own, each, bytes_max, count_max)
    assert ends == cuts(pure, bodies, own, each, bytes_max, count_max)
    if not isinstance(ends, list):
        return
    sizes = [each + len(body) + len(text) * has_texts for body, text in messages]
    for start, end in pairwise([0, *ends]):
        assert 0 < end - start <= count_max
        assert sum(sizes[start:end]) <= bytes_max
        # The next message would not have fitted.
        if end < len(sizes):
            assert end - start == count_max or sum(sizes[start : end + 1]) > bytes_max
    assert ends[-1:] == [len(bodies)][: len(bodies)]


@given(
    st.sampled_from([0, 1, 9, 10, 11, 12, 13]),
    st.sampled_from([0, 1]),
    ANSWERS,
    st.data(),
)
def test_an_answer_is_read_the_same_and_as_the_general_codec_reads_it(
    code: int, flag: int, fields: dict[str, str], data: st.DataObject
) -> None:
    command = RemotingCommand(code, flag=flag, opaque=7, ext_fields=fields)
    command.serialize_type = 1
    frame = bytearray(b"".join(encode(command)))
    for _ in range(data.draw(st.integers(0, 2))):
        # Anywhere but in the words that frame it.
        frame[data.draw(st.integers(8, len(frame) - 1))] = data.draw(st.integers(0, 255))
    got = read(import_module, bytes(frame))
    assert got == read(pure, bytes(frame))
    if got is not None:
        frames = FrameReader()
        frames.receive(bytes(frame))
        assert frames.advance()
        try:
            general = decode(frames)
        except ProtocolError as error:
            raise AssertionError("the general codec refuses it") from error
        said = general.ext_fields
        assert got == (
            general.code,
            said["msgId"].encode(),
            int(said["queueId"]),
            int(said["queueOffset"]),
        )


@given(st.integers(0, 2**40), st.integers(0, 2**32), st.sampled_from(["10.0.0.1", "fe80::1"]))
def test_ids_are_the_same(elapsed_ms: int, loader_hash: int, address: str) -> None:
    made = []
    for load in (import_module, pure):
        ids = load("aerobee.client.core.identity").UniqueIds(address, 99, loader_hash)
        made.append([ids.take(elapsed_ms), ids.take_bytes(elapsed_ms), ids.size])
    assert made[0] == made[1]
