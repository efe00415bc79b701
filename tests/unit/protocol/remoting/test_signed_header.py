"""Unit tests of the signed fields of a header: what is read in place, and what is not."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aerobee.model.access import Credentials
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.signature import sign, sign_fields, signed_text
from aerobee.protocol.remoting.signed_header import SignedHeader, SigningKey
from tests import wire

ALICE = Credentials("alice", "her secret")
KEY = SigningKey(b"her secret")
OTHER_KEY = SigningKey(b"her Secret")
texts = st.text(st.characters(codec="utf-8"), max_size=20)
names = st.text(st.characters(codec="ascii", exclude_characters='"\\', exclude_categories=["Cc"]))


def signed(fields: dict[str, str], body: bytes = b"") -> dict[str, str]:
    said = dict(fields)
    sign_fields(said, body, ALICE)
    return said


def read(header: bytes, body: bytes = b"", serialize_type: int = 0) -> SignedHeader | None:
    """The header of a frame, if it is read in place."""
    frames = FrameReader()
    frames.receive(b"".join((wire.frame(header, body, serialize_type), b"\0\0")))
    assert frames.advance()
    found = SignedHeader()
    return found if found.read(frames) else None


def test_a_send_of_each_client_is_read_in_place() -> None:
    fields = signed(wire.JAVA_FIELDS, b"body")
    for header in (
        wire.java_header(310, fields),
        wire.go_header(310, fields),
        wire.cpp_header(310, dict(fields)),
        wire.node_header(310, dict(fields)),
    ):
        found = read(header, b"body")
        assert found is not None
        assert found.code == 310
        assert found.is_signed_with(KEY)
        assert not found.is_signed_with(OTHER_KEY)
        other_body = read(header, b"bodz")
        assert other_body is not None
        assert not other_body.is_signed_with(KEY)


def test_a_binary_header_is_read_in_place() -> None:
    found = read(wire.binary_header(310, signed(wire.JAVA_FIELDS, b"body")), b"body", 1)
    assert found is not None
    assert (found.code, found.is_signed_with(KEY)) == (310, True)


def test_numbers_and_words_are_signed_as_they_stand() -> None:
    fields = signed({"n": "-12", "t": "true", "f": "false", "z": "0"})
    top = json.dumps({"code": 11, "extFields": fields}, separators=(",", ":"))
    for text in ('"-12"', '"true"', '"false"', '"0"'):
        top = top.replace(text, text.strip('"'))
    found = read(top.encode())
    assert found is not None
    assert found.is_signed_with(KEY)


@given(st.dictionaries(names, texts, max_size=12), st.binary(max_size=80), st.booleans())
@example({"k": '"\\/\b\f\n\r\t\x00\x7f'}, b"", False)
@example({"k": "\u20ac\u00e4"}, b"", False)
@example({"a" * 128: "x"}, b"", True)
def test_a_signature_is_what_the_general_path_would_say(
    fields: dict[str, str], body: bytes, is_binary: bool
) -> None:
    said = signed({key: text for key, text in fields.items() if len(key) <= 128}, body)
    if is_binary:
        found = read(wire.binary_header(310, said), body, 1)
    else:
        found = read(wire.java_header(310, said), body)
    if {"SecurityToken", "__ZONE_NAME", "__ZONE_MODE", "_UNIQUE_KEY_QUERY"} & set(said):
        return
    assert found is not None
    assert found.is_signed_with(KEY)
    assert sign(signed_text(said, body), ALICE.secret_key) == said["Signature"]


@pytest.mark.parametrize("is_first", [False, True])
def test_fields_are_sorted_whatever_came_before(is_first: bool) -> None:
    found = SignedHeader()
    for fields in ({"b": "1", "a": "2"}, {"a": "2", "b": "1"}, {"z": "1", "aa": "2", "a": "3"}):
        frames = FrameReader()
        said = signed(fields)
        if is_first:
            said = dict(reversed(said.items()))
        frames.receive(wire.frame(wire.java_header(11, said)))
        assert frames.advance()
        assert found.read(frames)
        assert found.is_signed_with(KEY)


def with_field(name: str, text: str = "x") -> bytes:
    return wire.java_header(310, signed({**wire.JAVA_FIELDS, name: text}))


SIGNED = wire.java_header(310, signed(wire.JAVA_FIELDS))
UNUSUAL = {
    "nothing signed": wire.java_header(310, wire.JAVA_FIELDS),
    "no fields": wire.java_header(310, None),
    "no user": wire.java_header(310, {"Signature": "x" * 28}),
    "an empty user": wire.java_header(310, {"AccessKey": "", "Signature": "x" * 28}),
    "a short signature": wire.java_header(310, {"AccessKey": "alice", "Signature": "x" * 27}),
    "a zone": with_field("__ZONE_NAME"),
    "a query": with_field("_UNIQUE_KEY_QUERY"),
    "a token": with_field("SecurityToken"),
    "a name with an escape": with_field('na"me'),
    "a name that is not ASCII": with_field("n\u00e4me"),
    "a long name": with_field("n" * 129),
    "a pair of surrogates": wire.java_header(310, signed({"k": "x"})).replace(
        b'"x"', b'"\\ud83d\\ude80"'
    ),
    "an escaped user": SIGNED.replace(b'"alice"', b'"\\u0061lice"'),
    "null": SIGNED.replace(b'"d":"4"', b'"d":null'),
    "a fraction": SIGNED.replace(b'"d":"4"', b'"d":4.0'),
    "a zero before digits": SIGNED.replace(b'"d":"4"', b'"d":04'),
    "an object in a field": SIGNED.replace(b'"d":"4"', b'"d":{}'),
    "a space": SIGNED.replace(b'"d":"4"', b'"d": "4"'),
    "a name twice": SIGNED.replace(b'"d":"4"', b'"d":"4","d":"4"'),
    "a signature twice": SIGNED.replace(b'"d":"4"', b'"Signature":"' + b"x" * 28 + b'"'),
    "fields twice": SIGNED.replace(b'"flag":0', b'"extFields":{"a":"b"}'),
    "a code twice": SIGNED.replace(b'"flag":0', b'"code":11'),
    "a code in a string": SIGNED.replace(b'"code":310', b'"code":"310"'),
    "another object": SIGNED.replace(b'"flag":0', b'"other":{"a":"b"}'),
    "no end": SIGNED[:-1],
    "something behind": SIGNED + b"}",
    "broken UTF-8": SIGNED.replace(b'"d":"4"', b'"d":"\xc3"'),
    "many fields": wire.java_header(310, signed({f"f{index}": "x" for index in range(32)})),
}


@pytest.mark.parametrize("header", UNUSUAL.values(), ids=UNUSUAL.keys())
def test_what_is_unusual_is_left_to_the_general_path(header: bytes) -> None:
    assert read(header) is None


def test_every_cut_of_a_header_is_left_to_the_general_path() -> None:
    for end in range(len(SIGNED)):
        assert read(SIGNED[:end]) is None
    binary = wire.binary_header(310, signed(wire.JAVA_FIELDS))
    for end in range(len(binary)):
        assert read(binary[:end], b"", 1) is None


def test_the_numbers_of_a_stamp_are_read_in_place() -> None:
    header = wire.java_header(310, signed({"RequestStamp": "310.1.2.3"}))
    found = read(header)
    assert found is not None
    assert [found.stamp_number(index) for index in range(4)] == [310, 1, 2, 3]
    assert found.is_of(b"alice")
    assert not found.is_of(b"alic")


@pytest.mark.parametrize("stamp", ["310.1.2", "310.1.2.3.4", "", "x.y.z.a", "1.2.3.-4", "...."])
def test_what_is_no_stamp_has_no_last_number(stamp: str) -> None:
    found = read(wire.java_header(310, signed({"RequestStamp": stamp})))
    assert found is not None
    assert not stamp or found.stamp_number(3) == -1
