"""Properties text: what is written is read back, and finding one agrees with reading all."""

from hypothesis import given
from hypothesis import strategies as st

from aerobee.model.properties import decode_properties, encode_properties, find_property

words = st.text(
    st.characters(exclude_characters="\x01\x02", exclude_categories=["Cs"]), min_size=1, max_size=20
)
# Few different bytes, so that separators, repeats and near misses are common.
texts = st.lists(st.sampled_from([b"\x01", b"\x02", b"a", b"b", b"ab", b"\xc3", b"\xff"])).map(
    b"".join
)
names = st.sampled_from([b"a", b"b", b"ab", b"aa", b"ba", b"", b"a\x01", b"\x02a"])


def pieces(text: bytes) -> dict[bytes, bytes]:
    """The rule of Java 5.x in its own steps: each piece up to 0x02, each name up to 0x01."""
    found = {}
    start = 0
    while start < len(text):
        end = text.find(b"\x02", start)
        if end < 0:
            end = len(text)
        if end - start >= 3:
            middle = text.find(b"\x01", start)
            if start < middle < end - 1:
                found[text[start:middle]] = text[middle + 1 : end]
        start = end + 1
    return found


@given(st.dictionaries(words, words))
def test_what_is_written_is_read_back(properties: dict[str, str]) -> None:
    text = encode_properties(properties)
    assert decode_properties(text) == properties
    assert list(decode_properties(text)) == list(properties)
    assert decode_properties(text.removesuffix(b"\x02")) == properties


@given(texts)
def test_any_text_is_read_by_javas_rule(text: bytes) -> None:
    wanted = {}
    for name, value in pieces(text).items():
        wanted[name.decode("utf-8", "replace")] = value.decode("utf-8", "replace")
    assert decode_properties(text) == wanted


@given(texts, names)
def test_finding_one_property_agrees_with_reading_all(text: bytes, name: bytes) -> None:
    assert find_property(text, name) == pieces(text).get(name)
