import json

import pytest

from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.pipeline.source.stream_offsets import (
    as_dict,
    from_dict,
    is_enveloped,
    pieces_in,
    read_offsets,
)

A0, A1, B0 = (
    MessageQueue("t", broker_name, QueueId(number))
    for broker_name, number in (("a", 0), ("a", 1), ("b", 0))
)


def test_the_same_places_are_the_same_text() -> None:
    many = {MessageQueue("t", "a", QueueId(number)): number for number in range(12)}
    backwards = dict(reversed(many.items()))
    assert json.dumps(as_dict(many)) == json.dumps(as_dict(backwards))
    assert as_dict({A0: 5, A1: 7, B0: 9}) == {
        "o": {"t": {"a": {"0": 5, "1": 7}, "b": {"0": 9}}},
        "v": 1,
    }
    assert from_dict(as_dict(many)) == many


def test_people_may_leave_out_the_envelope_and_name_the_ends() -> None:
    assert read_offsets('{"t":{"a":{"0":-2,"1":-1}}}') == {A0: -2, A1: -1}
    assert read_offsets('{"o":{"t":{"a":{"0":3}}},"v":1}') == {A0: 3}
    assert read_offsets("{}") == {}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("nonsense", "JSON"),
        ("[]", "offsets"),
        ('{"t":5}', "t is 5"),
        ('{"t":{"a":[]}}', "t@a"),
        ('{"t":{"a":{"x":1}}}', "'x'"),
        ('{"t":{"a":{"0":-3}}}', "-3"),
        ('{"t":{"a":{"0":true}}}', "True"),
        ('{"t":{"a":{"0":"1"}}}', "'1'"),
        ('{"o":{},"v":2}', "version 2"),
    ],
)
def test_what_is_wrong_is_named(text: str, named: str) -> None:
    with pytest.raises(Misuse) as caught:
        read_offsets(text)
    assert named in caught.value.message
    assert caught.value.hint


def test_an_offset_may_say_how_what_ends_there_is_cut() -> None:
    told = as_dict({A0: 5}, 8)
    assert list(told) == ["o", "p", "v"]
    assert (from_dict(told), pieces_in(told)) == ({A0: 5}, 8)
    assert pieces_in(as_dict({A0: 5})) == 0
    for wrong in (0, -1, True, "8", None):
        assert pieces_in({**told, "p": wrong}) == 0
    assert is_enveloped(told)
    assert not is_enveloped({"p": 1})
    assert not is_enveloped(None)
