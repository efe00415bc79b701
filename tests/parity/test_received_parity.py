"""The compiled decoder of received messages against its twin, on the same bytes in one process."""

import zlib
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aerobee._compiled import is_compiled
from aerobee.protocol.message.stored_message import encode_record
from tests.pure import pure
from tests.received_kit import stored

pytestmark = pytest.mark.skipif(
    not is_compiled("aerobee.protocol.message.received_message"), reason="nothing is compiled"
)

NAME = "aerobee.protocol.message.received_message"
QUEUE_NAME = "aerobee.model.message_queue"
FIELDS = [
    *("topic", "offset", "log_offset", "born_timestamp", "store_timestamp", "flag", "sys_flag"),
    *("reconsume_times", "size", "is_settled", "holder", "tag", "keys", "headers", "properties"),
    *("attempt", "message_id", "offset_id", "born_host", "body"),
]

properties = st.dictionaries(
    st.sampled_from(["TAGS", "KEYS", "UNIQ_KEY", "RETRY_TOPIC", "mine", "POP_CK"]),
    st.text("abc 1é", min_size=1, max_size=6),
)


@st.composite
def answers(draw: st.DrawFn) -> bytes:
    records = []
    for offset in range(draw(st.integers(0, 4))):
        is_packed = draw(st.booleans())
        body = draw(st.binary(max_size=20))
        record = stored(
            offset,
            zlib.compress(body) if is_packed else body,
            topic=draw(st.sampled_from(["T", "%RETRY%g", "ns%T"])),
            sys_flag=int(is_packed),
            tried=draw(st.integers(0, 3)),
        )
        record.properties.update(draw(properties))
        records.append(encode_record(record, with_crc=draw(st.booleans())))
    data = bytearray(b"".join(records))
    if data and draw(st.booleans()):
        data[draw(st.integers(0, len(data) - 1))] ^= 1 << draw(st.integers(0, 7))
    return bytes(data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data)


def outcome(load: Any, data: bytes, tags: frozenset[str] | None, queue_id: int) -> Any:
    received, queues = load(NAME), load(QUEUE_NAME)
    queue = queues.MessageQueue("T", "b", queues.QueueId(queue_id))
    reader = received.MessageReader(received.ReceivedMessage, tags, "ns%")
    try:
        found = reader.read(data, queue, "holder")
    except Exception as error:
        return type(error).__name__, str(error)
    said = []
    for message in found:
        values = [str(message.queue)]
        for field in FIELDS:
            try:
                values.append(getattr(message, field))
            except Exception as error:
                values.append(f"{type(error).__name__}: {error}")
        said.append(values)
    return said


@given(answers(), st.sampled_from([None, frozenset({"a", "b"})]), st.sampled_from([0, -1]))
def test_answers_are_read_the_same(data: bytes, tags: frozenset[str] | None, queue_id: int) -> None:
    compiled = outcome(import_module, data, tags, queue_id)
    assert compiled == outcome(pure, data, tags, queue_id)


def test_one_side_is_compiled_and_the_other_is_not() -> None:
    assert import_module(NAME).is_compiled()
    assert not pure(NAME).is_compiled()
