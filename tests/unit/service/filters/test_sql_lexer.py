"""Unit tests of the words of an SQL expression."""

import pytest

from aerobee.service.filters.sql_lexer import BadExpression, Kind, text_of, words_of


def written(expression: str) -> list[tuple[Kind, str]]:
    return [(word.kind, word.text) for word in words_of(expression)][:-1]


def test_words_are_told_apart_by_how_they_begin() -> None:
    assert written("a>=1 AND 'it''s'<>(b,$c_9)") == [
        (Kind.PROPERTY, "a"),
        (Kind.SYMBOL, ">="),
        (Kind.WHOLE, "1"),
        (Kind.KEYWORD, "AND"),
        (Kind.TEXT, "'it''s'"),
        (Kind.SYMBOL, "<>"),
        (Kind.SYMBOL, "("),
        (Kind.PROPERTY, "b"),
        (Kind.SYMBOL, ","),
        (Kind.PROPERTY, "$c_9"),
        (Kind.SYMBOL, ")"),
    ]


def test_a_keyword_is_one_in_any_case_and_a_property_keeps_its_own() -> None:
    assert written("Between NULL is Nulls") == [
        (Kind.KEYWORD, "BETWEEN"),
        (Kind.KEYWORD, "NULL"),
        (Kind.KEYWORD, "IS"),
        (Kind.PROPERTY, "Nulls"),
    ]


@pytest.mark.parametrize("text", ["5.5", "5.", ".5", "5E10", "5.e+10", ".5E-3", "00.5", "1e5"])
def test_a_point_or_an_exponent_makes_a_number_real(text: str) -> None:
    assert written(text) == [(Kind.REAL, text)]


@pytest.mark.parametrize("text", ["0", "7", "10", "9223372036854775807", "5L", "5l"])
def test_digits_alone_make_it_whole(text: str) -> None:
    assert written(text) == [(Kind.WHOLE, text)]


@pytest.mark.parametrize("text", ["007", "5x", "0L", "1.2.3", "5LL", "1_000", "5$", "5e"])
def test_a_number_with_something_at_its_end_is_none(text: str) -> None:
    with pytest.raises(BadExpression, match="followed by"):
        words_of(text)


def test_comments_and_white_space_only_part_words() -> None:
    assert written("a--b\n=\t/* > ' */1\f/***/\r-- the end") == [
        (Kind.PROPERTY, "a"),
        (Kind.SYMBOL, "="),
        (Kind.WHOLE, "1"),
    ]


def test_two_quotes_in_a_text_are_one() -> None:
    (word, _) = words_of("'a''b''''\n''c'")
    assert text_of(word) == "a'b''\n'c"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('a = "x"', "single quotes"),
        ("a = 'x", "does not end"),
        ("a = 'x''", "does not end"),
        ("a != 1", "<>"),
        ("a || b", "OR"),
        ("a && b", "AND"),
        ("a * 2", "arithmetic"),
        ("a /* b", "comment"),
        ("a.b = 1", "letters"),
        ("a = 1;", "ends"),
        ("ü = 1", "nothing begins"),
        ("a = \x00", "nothing begins"),
    ],
)
def test_what_is_no_word_is_named_with_what_may_be_meant(text: str, hint: str) -> None:
    with pytest.raises(BadExpression, match=hint):
        words_of(text)


def test_a_mistake_has_its_place() -> None:
    with pytest.raises(BadExpression) as caught:
        words_of("abc ~ def")
    assert caught.value.position == 4
    assert str(caught.value).startswith("at character 5, '~ def': ")
    assert "at its end" in str(BadExpression("why", "abc", 3))
