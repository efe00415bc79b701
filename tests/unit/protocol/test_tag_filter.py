from aerobee.protocol.tag_filter import tag_codes, tags_of


def test_a_star_and_nothing_want_everything() -> None:
    assert tag_codes("*") is None
    assert tag_codes("") is None
    assert tag_codes(" || ") is None


def test_tags_stand_between_double_bars_with_blanks_around_them() -> None:
    assert tags_of("TagA || TagB||TagA || ") == ("TagA", "TagB")


def test_codes_are_the_hashes_of_the_tags() -> None:
    assert tag_codes("TagA||TagB") == frozenset({2598919, 2598920})
    assert tag_codes("订单") == frozenset({1129459})
