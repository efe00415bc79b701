from collections.abc import Callable

import pytest

from aerobee.errors import ProtocolError
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse


def members(text: str) -> Members:
    return Members(parse(text.encode()), "the body")


def test_members_are_read_by_name() -> None:
    found = members('{"t":"x","n":7,"l":-9223372036854775808,"b":true,"o":{"i":1},"a":[1,"2"]}')
    assert found.text("t") == "x"
    assert found.int32("n") == 7
    assert found.int64("l") == -(2**63)
    assert found.is_true("b")
    assert found.object("o").int32("i") == 1
    assert found.array("a") == [1, "2"]
    assert found.has("t")


def test_what_is_absent_or_null_has_its_default() -> None:
    for text in ("{}", '{"x":null}'):
        found = members(text)
        assert found.text("x", "d") == "d"
        assert found.int32("x", 5) == 5
        assert found.is_true("x", True)
        assert found.object("x").names() == []
        assert found.array("x") == []
        assert not found.has("x")


def test_a_number_may_come_as_its_text() -> None:
    assert members('{"x":"-12"}').int64("x") == -12


def test_maps_are_read_whole() -> None:
    assert members('{"a":"1","b":"2"}').texts() == {"a": "1", "b": "2"}
    assert members('{0:"a","7":"b"}').texts_by_number() == {0: "a", 7: "b"}
    assert [(k, m.int32("n")) for k, m in members('{"a":{"n":1}}').objects()] == [("a", 1)]
    assert members('{"a":[0]}').plain() == {"a": [0]}


@pytest.mark.parametrize(
    ("text", "read", "said"),
    [
        ("[]", lambda m: m, "the body is no JSON object"),
        ("{}", lambda m: m.text("x"), "the body lacks x"),
        ("{}", lambda m: m.int32("x"), "the body lacks x"),
        ('{"x":1}', lambda m: m.text("x"), "x of the body is no text"),
        ('{"x":true}', lambda m: m.int32("x"), "x of the body is no whole number"),
        ('{"x":1.0}', lambda m: m.int32("x"), "x of the body is no whole number"),
        ('{"x":"1_0"}', lambda m: m.int32("x"), "x of the body is no whole number"),
        ('{"x":2147483648}', lambda m: m.int32("x"), "2147483648, which does not fit"),
        ('{"x":"9999999999999999999"}', lambda m: m.int64("x"), "does not fit"),
        ('{"x":"true"}', lambda m: m.is_true("x"), "x of the body is neither true nor false"),
        ('{"x":{}}', lambda m: m.array("x"), "x of the body is no array"),
        ('{"o":{"x":[]}}', lambda m: m.object("o").object("x"), "x of o of the body is no JSON"),
        ('{"x":1}', lambda m: m.texts(), "x of the body is no text"),
        ('{0:"a"}', lambda m: m.names(), "the body has a key that is no text"),
        ('{"x":"a"}', lambda m: m.texts_by_number(), "where a number is the key"),
        ("{0:1}", lambda m: m.texts_by_number(), "0 of the body is no text"),
        ('{"x":1}', lambda m: list(m.objects()), "x of the body is no JSON object"),
    ],
)
def test_what_is_wrong_is_named(text: str, read: Callable[[Members], object], said: str) -> None:
    with pytest.raises(ProtocolError, match=said):
        read(members(text))
