"""The walk through a log, compiled and pure: the same bytes lead to the same places."""

import importlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aerobee._compiled import is_compiled
from aerobee.model.message_queue import LogOffset
from aerobee.protocol.message.stored_message import encode_record
from tests.log_table_kit import message
from tests.pure import pure

pytestmark = pytest.mark.skipif(
    not is_compiled("aerobee.pipeline.log_table.log_walk"), reason="nothing is compiled"
)

_records = st.lists(
    st.builds(
        message,
        st.integers(0, 9),
        st.binary(max_size=60),
        topic=st.sampled_from(["a", "bb", "ü" * 70]),
        sys_flag=st.sampled_from([0, 0, 0, 1, 0x30]),
        properties=st.sampled_from([{}, {"TAGS": "x"}]),
    ),
    max_size=6,
)


def outcome(
    module: Callable[[str], Any], data: bytes, start: int, topics: list[bytes], times: list[int]
) -> Any:
    columns = module("aerobee.pipeline.arrow.message_columns").MessageColumns(0xFFF, 4, 1 << 20)
    walk = module("aerobee.pipeline.log_table.log_walk").LogTableWalk(
        columns, frozenset(topics), *times
    )
    view = memoryview(data)
    found = walk.find(view, start, 100, 100 + len(data) + 50), walk.finding, walk.record_size
    came_to = walk.take(view, start, len(data), 100, 100 + len(data))
    told = came_to, walk.position, walk.finding, walk.store_timestamp
    return found, told, columns.rows, bytes(columns.offset.finish())


@given(
    _records,
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 255)), max_size=2),
    st.integers(0, 500),
    st.lists(st.sampled_from([b"a", b"bb"]), max_size=2),
    st.sampled_from([[0, 2**62], [3, 7]]),
)
def test_both_walk_alike(
    messages: list[Any],
    with_crc: bool,
    flips: list[tuple[int, int]],
    start: int,
    topics: list[bytes],
    times: list[int],
) -> None:
    data = bytearray()
    for one in messages:
        placed = replace(one, log_offset=LogOffset(100 + len(data)))
        data += encode_record(placed, with_crc=with_crc)
    for place, value in flips:
        if data:
            data[place % len(data)] ^= value
    start = min(start, len(data))
    compiled = outcome(importlib.import_module, bytes(data), start, topics, times)
    assert compiled == outcome(pure, bytes(data), start, topics, times)
