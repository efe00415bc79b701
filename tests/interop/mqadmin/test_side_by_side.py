"""Tests of what counts as the same in what two tools print, and what does not."""

from tests.interop.mqadmin import our_page
from tests.interop.mqadmin.pairs import HERE, BothFail, Pair
from tests.interop.mqadmin.side_by_side import Compared, masked

PLAIN = Pair("topicList")


def same(theirs: str, ours: str, pair: Pair = PLAIN) -> bool:
    return masked(theirs, pair) == masked(ours, pair)


def test_times_ids_and_rates_are_not_compared() -> None:
    theirs = "C00002020E3C4F9FE8814D365C140001 2026-11-15 23:50:08,150 0.33 1794786608158 3ms"
    ours = "C00002020E3C1F8203A64D365C1B0001 2026-11-15 23:50:09,151 0.41 1794786608163 0ms"
    assert same(theirs, ours)


def test_other_values_words_and_columns_are() -> None:
    assert not same("broker-a  0  2", "broker-a  0  3")
    assert not same("#Topic  #QID", "#Topic #QID")
    assert not same("Orders", "Orders\nMore")
    assert not same("127.0.0.1:10911", "127.0.0.2:10911")


def test_the_order_of_lines_and_of_maps_counts_only_where_it_is_fixed() -> None:
    assert same("b\na", "a\nb")
    assert not same("b\na", "a\nb", Pair("topicRoute", is_fixed_order=True))
    assert same("{a=1, b=2}", "{b=2, a=1}")
    assert not same("{a=1, b=2}", "{b=3, a=1}")


def test_what_moves_is_not_compared_but_its_words_are() -> None:
    moving = Pair("clusterList -m", is_moving=True)
    assert same("in 12 out 7", "in 1200 out 8", moving)
    assert not same("in 12 out 7", "in 12 gone 7", moving)


def test_what_differs_on_purpose_is_left_out_and_nothing_else() -> None:
    pair = Pair("x", differs="so", drops=(r"__CRC32#=\d+, |, __CRC32#=\d+", "^trace.*"))
    assert same("{a=1, __CRC32#=5}\ntrace of it", "{a=1}", pair)
    assert not same("{a=1, __CRC32#=5}", "{a=2}", pair)


def test_the_table_says_what_was_seen_and_nothing_that_was_not() -> None:
    first = next(one for one in HERE if isinstance(one, Pair) and one.name == "clusterList")
    failed: dict[Pair | BothFail, Compared] = {first: Compared("", "", "other words")}
    seen: dict[Pair | BothFail, Compared] = {first: Compared("", "")}
    text = our_page.render(seen, failed, {"createUser": "no users"})
    assert "| clusterList | same |  | **differs** |" in text
    assert "| createUser | refuses | no users | not compared |" in text
    assert "| topicList | not compared |  | not compared |" in text
    assert "| addBroker | not compared |  | refuses |" in text
