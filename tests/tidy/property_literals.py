"""Names of message properties that compiled code compares byte by byte.

The fast paths sort properties by tables of their own (`_kind_of`), which hold names as literals,
because a constant of `aerobee.model.properties` is a Python object. A name that is misspelt there,
or compared in the wrong branch or size, compiles and is never found: a message that needs the
general path then takes the fast one.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tests.tidy.source_tree import Module, SourceTree

_NAMES = "aerobee.model.properties"
_TABLE = "_kind_of"


class _Literal(NamedTuple):
    place: str
    text: bytes
    size: int
    """How many bytes are compared."""
    sizes: set[int]
    """What the size of the whole name was compared with for equality; empty: with none, so that
    the literal is the begin of some names."""
    leads: set[int]
    """What the first byte was compared with."""


def strange_property_literals(tree: SourceTree) -> list[str]:
    """Literals in tables of properties are names in `model.properties`, or begin one."""
    names = _property_names(tree)
    found = []
    for literal in _literals(tree):
        text = literal.text
        if literal.size != len(text) or literal.sizes - {len(text)}:
            found.append(f"{literal.place}: {text!r} has {len(text)} bytes")
        if literal.leads - set(text[:1]):
            found.append(f"{literal.place}: {text!r} is looked for behind another first byte")
        if literal.sizes and text not in names:
            found.append(f"{literal.place}: {text!r} is no name in {_NAMES}")
        if not literal.sizes and not any(name.startswith(text) for name in names):
            found.append(f"{literal.place}: {text!r} begins no name in {_NAMES}")
    return found


def property_tables(tree: SourceTree) -> set[str]:
    """The modules that have such a table."""
    return {literal.place.partition(":")[0] for literal in _literals(tree)}


def _property_names(tree: SourceTree) -> set[bytes]:
    return {
        node.value.value.encode()
        for module in tree.package
        if module.name == _NAMES
        for node in module.syntax.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }


def _literals(tree: SourceTree) -> Iterator[_Literal]:
    for module in tree.package:
        if _TABLE in module.text:
            for function in module.functions():
                if function.name.startswith(_TABLE):
                    yield from _in_branch(module, function, set(), set())


def _in_branch(
    module: Module, node: ast.AST, sizes: set[int], leads: set[int]
) -> Iterator[_Literal]:
    """The literals below a node, given what has been compared on the way to it."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "same_bytes":
        text, size = _text_of(node.args[2]), node.args[4]
        assert isinstance(size, ast.Constant)
        assert isinstance(size.value, int)
        yield _Literal(f"{module.place}:{node.lineno}", text, size.value, sizes, leads)
        return
    held: list[ast.expr] = []
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        held = node.values
    elif isinstance(node, ast.If | ast.IfExp):
        held = [node.test]
    elsewhere = getattr(node, "orelse", [])
    for child in ast.iter_child_nodes(node):
        if child is elsewhere or (isinstance(elsewhere, list) and child in elsewhere):
            yield from _in_branch(module, child, sizes, leads)
        else:
            held_sizes, held_leads = _compared(held, "size"), _compared(held, "byte")
            yield from _in_branch(module, child, sizes | held_sizes, leads | held_leads)


def _compared(tests: list[ast.expr], name: str) -> set[int]:
    """The numbers that a variable equals where these tests hold."""
    return {
        test.comparators[0].value
        for test in tests
        if isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == name
        and isinstance(test.ops[0], ast.Eq)
        and isinstance(test.comparators[0], ast.Constant)
        and isinstance(test.comparators[0].value, int)
    }


def _text_of(argument: ast.expr) -> bytes:
    assert isinstance(argument, ast.Call), ast.unparse(argument)
    literal = argument.args[0]
    assert isinstance(literal, ast.Constant), ast.unparse(argument)
    assert isinstance(literal.value, bytes)
    return literal.value
