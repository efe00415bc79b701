"""Rules for tests: each module has its own, none waits for a clock, none reaches into the code.

A sleeping test is slow when it passes and wrong when the machine is busy. A patched module tests
a program that nobody runs, and patching a compiled class is an error anyway: what a test wants
different is an argument.
"""

import ast

from tests.tidy.source_tree import Module, SourceTree

_PATCHERS = {"monkeypatch", "mocker"}


def unmirrored_modules(tree: SourceTree) -> list[str]:
    """src/aerobee/a/b.py ↔ tests/unit/a/test_b.py, both ways.

    A module that only declares (constants, protocols, a package's docstring) needs no test.
    """
    wanted = {_test_place(module): module.place for module in tree.package}
    there = {module.place for module in tree.tests if _is_unit_test(module)}
    missing = [
        f"{module.place}: {_test_place(module)} is missing"
        for module in tree.package
        if _has_behaviour(module) and _test_place(module) not in there
    ]
    stray = [f"{place}: tests no module of its name" for place in sorted(there - wanted.keys())]
    return missing + stray


def sleeping_tests(tree: SourceTree) -> list[str]:
    return [
        f"{module.place}:{node.lineno}: waits for a clock; wait for the event, or move SimClock"
        for module in tree.tests
        for node in ast.walk(module.syntax)
        if isinstance(node, ast.Call) and _called_name(node) == "sleep"
    ]


def patching_tests(tree: SourceTree) -> list[str]:
    found = []
    for module in tree.tests:
        for node in ast.walk(module.syntax):
            if isinstance(node, ast.arg) and node.arg in _PATCHERS:
                found.append(f"{module.place}:{node.lineno}: {node.arg}: pass the thing in")
            if isinstance(node, ast.ImportFrom | ast.Import) and "mock" in ast.unparse(node):
                found.append(f"{module.place}:{node.lineno}: a mock: use what aerobee.sim ships")
    return found


def _is_unit_test(module: Module) -> bool:
    file_name = module.place.split("/")[-1]
    return module.place.startswith("tests/unit/") and file_name.startswith("test_")


def _test_place(module: Module) -> str:
    """Where the tests of a module belong; those of a package's __init__ in test___init__.py."""
    folders, _, file_name = module.place.removeprefix("src/aerobee/").rpartition("/")
    return "/".join(part for part in ("tests/unit", folders, f"test_{file_name}") if part)


def _has_behaviour(module: Module) -> bool:
    return any(not _only_declares(function) for function in module.functions())


def _only_declares(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return all(
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for node in function.body
    )


def _called_name(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""
