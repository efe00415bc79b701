"""Any text is an SQL filter or wrong at a place; a filter is written and parsed to the same again.

The bytes behind the first 0x00 are the properties of a message: the compiled filter and its twin
let it through or not alike.
"""

from aerobee.service.filters.sql_compiler import compile_sql
from aerobee.service.filters.sql_lexer import BadExpression
from aerobee.service.filters.sql_parser import parse_sql
from aerobee.service.filters.sql_tree import Node, write
from tests.pure import pure

_twin = pure("aerobee.service.filters.sql_compiler")


def check(data: bytes) -> None:
    """Any text is an SQL filter or wrong at a place."""
    said, _, properties = data.partition(b"\x00")
    expression = said.decode("utf-8", "replace")
    tree = _parsed(expression)
    if isinstance(tree, BadExpression):
        assert 0 <= tree.position <= len(expression)
        return
    assert parse_sql(write(tree)) == tree
    compiled, twin = compile_sql(expression), _twin.compile_sql(expression)
    assert compiled.matches_text(properties) == twin.matches_text(properties)
    assert compiled.faults == twin.faults
    assert compiled.take_news(set()) == twin.take_news(set())


def _parsed(expression: str) -> Node | BadExpression:
    try:
        return parse_sql(expression)
    except BadExpression as error:
        return error
