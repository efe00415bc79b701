"""Filters, compiled and pure: the same expressions choose the same messages and remember alike."""

import importlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aerobee._compiled import is_compiled
from aerobee.service.filters.sql_tree import Node, write
from tests.pure import pure
from tests.sql_kit import NAMES, VALUES, expressions

pytestmark = pytest.mark.skipif(
    not is_compiled("aerobee.protocol.message.property_filter"), reason="nothing is compiled"
)

_pieces = st.one_of(
    st.sampled_from([name.encode() for name in NAMES]),
    st.sampled_from([value.encode() for value in VALUES]),
    st.sampled_from([b"\x01", b"\x02"]),
    st.binary(max_size=4),
)
_pairs = st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES)).map(
    lambda pair: f"{pair[0]}\x01{pair[1]}\x02".encode()
)
texts = st.lists(st.one_of(_pieces, _pairs), max_size=12).map(b"".join)


def outcome(module: Callable[[str], Any], expression: str, many: list[bytes]) -> Any:
    compiled = module("aerobee.service.filters.sql_compiler").compile_sql(expression)
    chosen = [compiled.matches_text(text) for text in many]
    return chosen, compiled.faults, compiled.has_news, compiled.take_news(set())


@given(expressions, st.lists(texts, max_size=8))
def test_both_choose_the_same(tree: Node, many: list[bytes]) -> None:
    expression = write(tree)
    assert outcome(importlib.import_module, expression, many) == outcome(pure, expression, many)
