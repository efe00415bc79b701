import re

import pytest

from aerobee.errors import Misuse
from aerobee.protocol.consume.pull_answer import matches
from aerobee.protocol.remoting.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting.number_template import NumberTemplate, template_of
from tests import wire

HEADER = b'{"code":11,"extFields":{"queueId":"1","queueOffset":"7"},"opaque":303,"version":513}'
PLACES = [
    (HEADER.index(b'1","queueOffset'), HEADER.index(b'","queueOffset')),
    (HEADER.index(b'7"}'), HEADER.index(b'"}')),
    (HEADER.index(b"303"), HEADER.index(b',"version')),
]


def numbers_of(header: bytes, serialize_type: int = 0) -> list[int] | None:
    """What a template of HEADER reads in another header; None: it does not match."""
    template = NumberTemplate(HEADER, PLACES)
    frames = FrameReader(FrameLimits())
    frames.receive(wire.frame(header, b"body", serialize_type))
    assert frames.advance()
    if not matches(template, frames):
        return None
    return [template.number(index) for index in range(3)]


def test_a_header_matches_itself() -> None:
    assert numbers_of(HEADER) == [1, 7, 303]


def test_other_numbers_of_any_length_match() -> None:
    other = HEADER.replace(b'"7"', b'"9223372036854775807"').replace(b"303", b"-2147483648")
    assert numbers_of(other.replace(b'"1"', b'"15"')) == [15, 2**63 - 1, -(2**31)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"11", b"12"),
        (b"513", b"514"),
        (b'"7"', b'""'),
        (b'"7"', b'"-"'),
        (b'"7"', b'"-0"'),
        (b'"7"', b'"7x"'),
        (b'"7"', b'"9223372036854775808"'),
        (b"303", b"0303"),
        (b"303", b""),
        (b"}", b"} "),
        (b"queueId", b"queueIe"),
    ],
)
def test_whatever_else_differs_is_no_match(old: bytes, new: bytes) -> None:
    assert numbers_of(HEADER.replace(old, new)) is None


def test_a_header_that_is_cut_is_no_match() -> None:
    for size in range(1, len(HEADER)):
        assert numbers_of(HEADER[:size]) is None


def test_a_binary_header_is_no_match() -> None:
    assert numbers_of(HEADER, 1) is None


@pytest.mark.parametrize(
    "places",
    [
        [(0, 2)],
        [(5, 5)],
        [(5, 7), (7, 9)],
        [(7, 9), (5, 6)],
        [(len(HEADER) - 1, len(HEADER))],
        [(n * 3 + 1, n * 3 + 2) for n in range(13)],
    ],
)
def test_places_must_be_in_order_apart_and_inside(places: list[tuple[int, int]]) -> None:
    with pytest.raises(Misuse):
        NumberTemplate(HEADER, places)


QUEUE, OFFSET = re.compile(rb'"queueId":"(-?[0-9]+)'), re.compile(rb'"queueOffset":"([0-9]+)')
OPAQUE = re.compile(rb'"opaque":([0-9]+)')


def test_a_template_is_made_by_patterns_in_whatever_order() -> None:
    found = template_of(HEADER, [OPAQUE, QUEUE, OFFSET])
    assert found is not None
    assert found[1:] == ([2, 0, 1], [303, 1, 7])


def test_a_pattern_may_have_several_places() -> None:
    found = template_of(HEADER, [re.compile(rb'"([0-9])","queueOffset":"([0-9])')])
    assert found is not None
    assert found[1:] == ([0, 1], [1, 7])


@pytest.mark.parametrize("header", [HEADER.replace(b"queueId", b"queue"), HEADER + HEADER])
def test_a_pattern_must_be_there_and_once(header: bytes) -> None:
    assert template_of(header, [QUEUE, OPAQUE]) is None
