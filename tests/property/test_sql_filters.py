"""Properties of SQL filters: written and parsed they are the same, compiled they mean what the
model says, and no text whatever does more than be refused."""

from collections.abc import Mapping

from hypothesis import assume, given
from hypothesis import strategies as st

from aerobee.model.properties import encode_properties
from aerobee.service.filters.sql_compiler import compile_sql
from aerobee.service.filters.sql_lexer import BadExpression
from aerobee.service.filters.sql_parser import parse_sql
from aerobee.service.filters.sql_tree import Node, write
from tests.sql_kit import VALUES, expressions, lets_through, messages


@given(expressions)
def test_what_is_written_is_parsed_to_the_same(tree: Node) -> None:
    assert parse_sql(write(tree)) == tree


@given(expressions, st.lists(messages, min_size=1, max_size=8))
def test_a_compiled_filter_lets_through_what_the_model_does(
    tree: Node, many: list[Mapping[str, str]]
) -> None:
    compiled = compile_sql(write(tree))
    for message in many:
        assert compiled.matches_text(encode_properties(message)) == lets_through(tree, message)


@given(expressions)
def test_case_of_keywords_comments_and_white_space_mean_nothing(tree: Node) -> None:
    text = write(tree)
    assume("'" not in text)
    for keyword in ("AND", "OR", "NOT", "IS", "BETWEEN"):
        text = text.replace(f" {keyword} ", f"\n/* {keyword} */{keyword.lower()}\t")
    assert parse_sql(text) == tree


def parsed(text: str) -> Node | BadExpression:
    try:
        return parse_sql(text)
    except BadExpression as error:
        return error


_WORDS = (
    *("a", "b", "AND", "OR", "NOT", "IN", "IS", "NULL", "TRUE", "BETWEEN", "CONTAINS", "LIKE"),
    *("=", "<>", "<", ">=", "(", ")", ",", "+", "-", "--", "/*", "*/", "'", "''", "1", "1.5", "L"),
    *VALUES,
)


@given(st.one_of(st.text(), st.lists(st.sampled_from(_WORDS)).map(" ".join)))
def test_any_text_is_an_expression_or_wrong_at_a_place(text: str) -> None:
    tree = parsed(text)
    if isinstance(tree, BadExpression):
        assert 0 <= tree.position <= len(text)
        return
    assert parse_sql(write(tree)) == tree
    compile_sql(text).matches_text(b"a\x011\x02b\x01x\x02")
