"""The JSON dialect: what is written is read back in both forms, and other bytes are refused."""

import json

from hypothesis import given
from hypothesis import strategies as st

from aerobee.protocol.text.json_text import BadJson, Value, parse, write_compact, write_pretty

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)
# An integer and its text are one key; so are an object's True and 1 here: hence no mixtures.
object_keys = st.dictionaries(texts, texts | st.integers(2, 9), max_size=3).map(
    lambda pairs: tuple(pairs.items())
)
keys = texts.filter(lambda text: not text.lstrip("-").isdigit()) | st.integers(0, 99) | object_keys
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)


@given(values)
def test_what_is_written_is_read_back_in_both_forms(value: Value) -> None:
    assert parse(write_compact(value), depth_max=32) == value
    assert parse(write_pretty(value), depth_max=32) == value


@given(st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(texts, inner)))
def test_plain_json_is_read_as_everybody_reads_it(value: Value) -> None:
    assert parse(json.dumps(value).encode(), depth_max=32) == value
    assert json.loads(write_compact(value)) == value


fragments = st.lists(
    st.sampled_from(
        [
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            '"',
            "\\",
            "0",
            "-1",
            "1.5",
            "e9",
            "true",
            "null",
            '"a"',
            " ",
        ]
    ),
    max_size=12,
).map(lambda parts: "".join(parts).encode())


@given(st.one_of(fragments, st.binary(max_size=20)))
def test_any_bytes_are_a_value_or_refused(text: bytes) -> None:
    try:
        value = parse(text)
    except BadJson:
        return
    assert parse(write_compact(value)) == value
