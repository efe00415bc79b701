from dataclasses import replace

import pytest

from aerobee.console.http.problem import Problem
from aerobee.console.message.message_filter import MessageFilter
from tests.unit.console.message.test_message_rows import MESSAGE


@pytest.mark.parametrize(
    ("given", "fits"),
    [
        ({}, True),
        ({"tag": "new || old"}, True),
        ({"tag": "old"}, False),
        ({"sql": "color = 'red' AND TAGS IS NOT NULL"}, True),
        ({"sql": "color = 'blue'"}, False),
        ({"text": '"A": 1'}, True),
        ({"text": "RED"}, True),
        ({"text": "k2"}, True),
        ({"text": "nothing"}, False),
        ({"regex": r"^\{.a"}, True),
        ({"regex": "b[0-9]+"}, False),
        ({"tag": "new", "sql": "color = 'red'", "text": "k1", "regex": "re."}, True),
        ({"tag": "new", "sql": "color = 'red'", "text": "k3", "regex": "re."}, False),
    ],
)
def test_a_message_fits_if_every_part_does(given: dict[str, str], fits: bool) -> None:
    assert MessageFilter(**given).fits(MESSAGE) is fits


@pytest.mark.parametrize(
    "given",
    [
        {"sql": "color ="},
        {"regex": "("},
        {"regex": "(a+)+b"},
        {"regex": "(a|a)*b"},
        {"regex": r"(a)\1"},
        {"regex": "x" * 201},
    ],
)
def test_an_expression_that_is_wrong_or_may_never_end_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(Problem):
        MessageFilter(**given)


def test_a_body_that_is_no_text_is_searched_all_the_same() -> None:
    packed = replace(MESSAGE, body=b"\xff\xfeneedle\xff")
    assert MessageFilter(text="needle").fits(packed)
