import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.text.java_properties import parse_properties, write_properties


def read(text: str) -> dict[str, str]:
    return {found.key: found.value for found in parse_properties(text)}


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("listenPort=9876", "listenPort", "9876"),
        ("listenPort = 9876", "listenPort", "9876"),
        ("  listenPort\t:\f9876", "listenPort", "9876"),
        ("listenPort 9876", "listenPort", "9876"),
        ("listenPort", "listenPort", ""),
        ("listenPort=", "listenPort", ""),
        ("=x", "", "x"),
        ("a=b=c:d", "a", "b=c:d"),
        ("a==b", "a", "=b"),
        ("a= b ", "a", "b "),
        (r"a\=b\:c\ d=e", "a=b:c d", "e"),
        (r"a=\t\n\r\f\\\q\u0041", "a", "\t\n\r\f\\qA"),
        ("a=x\\\n   y", "a", "xy"),
        ("a=x\\\\\nb=y", "a", "x\\"),
        ("a=x\\", "a", "x"),
        ("a=x\\\r\n\ty", "a", "xy"),
        ("a=1\rb=2", "a", "1"),
        ("a=订单", "a", "订单"),
        (r"a=\ud83d\udc1d", "a", "🐝"),
    ],
)
def test_a_property_is_read_as_java_reads_it(text: str, key: str, value: str) -> None:
    assert read(text)[key] == value


def test_comments_and_empty_lines_are_left_out() -> None:
    assert read("# a=1\n\n  ! b=2 \\\n\t\nc=3 # not a comment") == {"c": "3 # not a comment"}


def test_the_later_of_two_counts_and_both_say_where_they_stand() -> None:
    found = parse_properties("a=1\n\n#\nb=\\\n\\\n2\na=3")
    assert found == [(1, "a", "1"), (4, "b", "2"), (7, "a", "3")]


@pytest.mark.parametrize("text", [r"a=\u12", r"\uxyz0=1", "\\u", r"a=\ud83d", r"\udc1d\ud83d="])
def test_half_an_escape_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(RemoteProtocolError, match="line 2"):
        parse_properties("\n" + text)


def test_what_is_written_is_read_back() -> None:
    table = {"a b=c": " x\\y ", "#k": "1\n2\t", "é": "", ":": "=", "!": "#"}
    assert read(write_properties(table)) == table
    assert (
        write_properties({"listenPort": "9876", "p": "/a:b=c d"}) == "listenPort=9876\np=/a:b=c d\n"
    )
