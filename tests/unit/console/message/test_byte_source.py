import pytest

from aerobee.console.message.byte_source import (
    DEPTH_MAX,
    ByteSource,
    NotOfFormat,
    real,
    whole,
)


def test_nothing_is_taken_that_is_not_there() -> None:
    source = ByteSource(b"abc")
    assert source.take(2) == b"ab"
    for size in (2, -1, 2**70):
        with pytest.raises(NotOfFormat, match="too early"):
            source.take(size)
    assert source.left == 1


def test_numbers_are_read_as_they_are_written() -> None:
    assert ByteSource(b"\xac\x02").varint() == 300
    assert [ByteSource(bytes([one])).zigzag() for one in range(4)] == [0, -1, 1, -2]
    with pytest.raises(NotOfFormat, match="too long"):
        ByteSource(b"\xff" * 11).varint()


def test_values_are_counted_over_all_parts_and_depth_has_an_end() -> None:
    source = ByteSource(b"abcdef", values_max=3)
    inner = source.part(3)
    inner.count()
    source.count()
    inner.part(1).enter(DEPTH_MAX)
    with pytest.raises(NotOfFormat, match="too many"):
        source.count()
    with pytest.raises(NotOfFormat, match="too deep"):
        ByteSource(b"").enter(DEPTH_MAX + 1)


def test_numbers_that_json_or_a_browser_would_change_are_texts() -> None:
    assert (real(1.5), real(float("inf")), real(float("nan"))) == (1.5, "inf", "nan")
    assert (whole(2**53), whole(2**53 + 1), whole(-(2**63))) == (
        2**53,
        "9007199254740993",
        "-9223372036854775808",
    )
