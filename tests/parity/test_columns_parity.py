"""Columns, compiled and pure: the same records give the same bytes, whatever the records are."""

import importlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aerobee._compiled import is_compiled
from aerobee.model.message import Host, StoredMessage
from aerobee.protocol.message.stored_message import encode_record
from tests.pure import pure

pytestmark = pytest.mark.skipif(
    not is_compiled("aerobee.pipeline.arrow.message_columns"), reason="nothing is compiled"
)

_texts = st.text(
    st.characters(exclude_characters="\x01\x02", exclude_categories=["Cs"]), min_size=1
)
_messages = st.builds(
    StoredMessage,
    topic=st.text("abcü", min_size=1, max_size=60),
    queue_id=st.integers(0, 9),
    queue_offset=st.integers(0, 2**40),
    log_offset=st.integers(0, 2**62),
    body=st.binary(max_size=40),
    properties=st.dictionaries(
        st.sampled_from(["KEYS", "TAGS", "UNIQ_KEY"]) | _texts, _texts, max_size=5
    ),
    born_timestamp=st.integers(0, 2**50),
    born_host=st.sampled_from([Host("127.0.0.1", 1), Host("::1", 2)]),
    store_timestamp=st.integers(0, 2**50),
    store_host=st.sampled_from([Host("10.0.0.255", 10911), Host("fe80::1", 65535)]),
    sys_flag=st.sampled_from([0, 0, 0, 1, 0xC0]),
    reconsume_times=st.integers(0, 20),
)
_SIZED = ("key", "value", "topic", "tags", "message_id", "properties")
_FIXED = ("queue_id", "offset", "timestamp", "born_timestamp", "reconsume_times", "log_offset")


def outcome(module: Callable[[str], Any], data: bytes, wanted: int, rows: int) -> Any:
    columns = module("aerobee.pipeline.arrow.message_columns").MessageColumns(wanted, rows, 1 << 20)
    came_to = columns.take(memoryview(data), 0, len(data), 2**62)
    sized = [
        [None if part is None else bytes(part) for part in getattr(columns, name).finish()]
        for name in _SIZED
    ]
    fixed = [bytes(getattr(columns, name).finish()) for name in _FIXED]
    return came_to, columns.position, columns.rows, columns.next_offset, sized, fixed


@given(
    st.lists(st.tuples(_messages, st.booleans()), max_size=6),
    st.integers(0, 0xFFF),
    st.integers(1, 8),
    st.binary(max_size=30),
)
def test_both_build_the_same_columns(
    many: list[tuple[Any, bool]], wanted: int, rows: int, rest: bytes
) -> None:
    data = b"".join(encode_record(message, with_crc=with_crc) for message, with_crc in many) + rest
    compiled = outcome(importlib.import_module, data, wanted, rows)
    assert compiled == outcome(pure, data, wanted, rows)
