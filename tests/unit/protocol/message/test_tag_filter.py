from aerobee.protocol.message.tag_filter import (
    EXPRESSION_CHARS_MAX,
    TAGS_MAX,
    find_expression_fault,
    tag_codes,
    tags_of,
)


def test_a_star_and_nothing_want_everything() -> None:
    assert tag_codes("*") is None
    assert tag_codes("") is None
    assert tag_codes(" || ") is None


def test_tags_stand_between_double_bars_with_blanks_around_them() -> None:
    assert tags_of("TagA || TagB||TagA || ") == ("TagA", "TagB")


def test_codes_are_the_hashes_of_the_tags() -> None:
    assert tag_codes("TagA||TagB") == frozenset({2598919, 2598920})
    assert tag_codes("订单") == frozenset({1129459})


def test_an_expression_has_a_bounded_length_and_number_of_tags() -> None:
    assert find_expression_fault("||".join("a" * TAGS_MAX)) is None
    assert "1001 tags" in str(find_expression_fault("||".join("a" * (TAGS_MAX + 1))))
    assert find_expression_fault("a" * EXPRESSION_CHARS_MAX) is None
    assert "16385 characters" in str(find_expression_fault("a" * (EXPRESSION_CHARS_MAX + 1)))
