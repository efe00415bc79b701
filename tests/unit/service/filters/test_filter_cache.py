"""Unit tests of filters in use: compiled once, bounded, their news told once."""

import logging

import pytest

from aerobee.service.filters.filter_cache import FilterCache


def test_an_expression_of_a_group_is_compiled_once() -> None:
    cache = FilterCache()
    found = cache.find("g", "T", "a = 1")
    assert found.filter is not None
    assert found.fault == ""
    assert cache.find("g", "T", "a = 1") is found
    assert cache.find("h", "T", "a = 1") is not found
    assert cache.find("g", "U", "a = 1") is not found
    assert cache.find("g", "T", "a = 2") is not found
    assert len(cache) == 4


def test_a_wrong_one_is_kept_as_such() -> None:
    cache = FilterCache()
    found = cache.find("g", "T", "a =")
    assert found.filter is None
    assert "a value is missing" in found.fault
    assert cache.find("g", "T", "a =") is found


def test_those_that_were_used_longest_ago_make_room() -> None:
    cache = FilterCache(entries_max=2)
    first, second = cache.find("g", "T", "a = 1"), cache.find("g", "T", "a = 2")
    assert cache.find("g", "T", "a = 1") is first
    cache.find("g", "T", "a = 3")
    assert cache.find("g", "T", "a = 1") is first
    assert cache.find("g", "T", "a = 2") is not second
    assert len(cache) == 2


def test_characters_are_bounded_too() -> None:
    cache = FilterCache(chars_max=10)
    for number in range(20):
        cache.find("g", "T", f"a = {number % 10}")
        assert sum(len(one.key.expression) for one in cache) <= 10
    cache.find("g", "T", "a = 1 OR a = 2")
    assert len(cache) == 1, "one is always there, however long"
    cache.find("g", "T", "a = 1")
    assert len(cache) == 1


def test_what_does_not_fit_is_logged_once_for_a_subscription(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    cache = FilterCache()
    one, other = cache.find("g", "T", "a = 1"), cache.find("h", "T", "a = 1")
    assert one.filter is not None
    assert other.filter is not None
    for _ in range(3):
        one.filter.matches_text(b"b\x011\x02")
        cache.tell_news()
    assert [record.__dict__["group"] for record in caplog.records] == ["g"]
    assert caplog.records[0].__dict__["why"] == "no property a"
    one.filter.matches_text(b"a\x01x\x02")
    other.filter.matches_text(b"b\x011\x02")
    cache.tell_news()
    assert [
        (record.__dict__["group"], record.__dict__["why"]) for record in caplog.records[1:]
    ] == [
        ("g", "values that cannot be compared: a = 1"),
        ("h", "no property a"),
    ]


def test_what_a_filter_saw_is_logged_before_it_goes(caplog: pytest.LogCaptureFixture) -> None:
    cache = FilterCache(entries_max=1)
    found = cache.find("g", "T", "a = 1")
    assert found.filter is not None
    found.filter.matches_text(b"")
    cache.find("g", "T", "a = 2")
    assert [record.__dict__["expression"] for record in caplog.records] == ["a = 1"]
