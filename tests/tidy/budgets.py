"""Limits of how large a thing may grow before it is two things.

The difference between a codebase that can be read and one that cannot is in the maximum, not in
the median, so these are limits on the maximum. Two may be stretched, by a reason in the module's
docstring; a limit that is wrong is changed here, for all.
"""

import ast
from collections import Counter

from tests.tidy.source_tree import Module, SourceTree

FUNCTION_LINES_MAX = 70  # docstring not counted
MODULE_LINES_MAX = 500
MODULE_LINES_WITH_REASON_MAX = 800
LENGTH_REASON = "Longer than 500 lines because"  # how the reason begins, in the module docstring
PUBLIC_METHODS_MAX = 20
CONSTRUCTOR_PARAMETERS_MAX = 8
PROJECT_IMPORTS_MAX = 15
PROJECT_IMPORTS_WITH_REASON_MAX = 20
WIDTH_REASON = "Imports more than 15 modules because"  # for what puts the others together
IMPORTED_BY_MAX = 30
# What everybody may name: values, ports, errors, the header line of every hot module; what every
# handler of every request takes and gives: codes, declared headers, JSON, rows, settings; the
# store's one face; the bytes that every hot module reads; what every command is made of; and whom
# commands and pages ask.
IMPORTED_BY_ALL = (
    "aerobee.cli.cluster_verbs",
    "aerobee.cli.output",
    "aerobee.client.admin.admin",
    "aerobee.model",
    "aerobee.ports",
    "aerobee.errors",
    "aerobee._cython_compat",
    "aerobee.protocol.primitives.big_endian",
    "aerobee.protocol.remoting.declared_header",
    "aerobee.protocol.text.json_members",
    "aerobee.protocol.text.json_text",
    "aerobee.protocol.remoting.remoting_command",
    "aerobee.protocol.request_codes",
    "aerobee.protocol.response_codes",
    "aerobee.service.broker.config",
    "aerobee.service.broker.request_table",
    "aerobee.service.request",
    "aerobee.storage.store",
)


def long_functions(tree: SourceTree) -> list[str]:
    return [
        f"{module.place}:{function.lineno}: {function.name} has {lines} lines"
        for module in tree.package + tree.tests + tree.programs
        for function in module.functions()
        if (lines := _lines_without_docstring(function)) > FUNCTION_LINES_MAX
    ]


def long_modules(tree: SourceTree) -> list[str]:
    found = []
    for module in tree.package + tree.tests + tree.programs:
        limit = (
            MODULE_LINES_WITH_REASON_MAX
            if LENGTH_REASON in _on_one_line(module.docstring)
            else MODULE_LINES_MAX
        )
        lines = len(module.text.splitlines())
        if lines > limit:
            found.append(f"{module.place}: {lines} lines; {limit} at most")
    return found


def wide_classes(tree: SourceTree) -> list[str]:
    """What a port asks for does not count: it was weighed once, where the port is."""
    asked_for = {
        method
        for module in tree.package
        if module.name.startswith("aerobee.ports.")
        for cls in module.classes()
        for method in _public_methods(cls)
    }
    found = []
    for module in tree.package:
        is_behind_port = module.name.split(".")[1:2] in (["sim"], ["system"])
        for cls in module.classes():
            methods = _public_methods(cls)
            if is_behind_port:
                methods -= asked_for
            if len(methods) > PUBLIC_METHODS_MAX:
                found.append(
                    f"{module.place}:{cls.lineno}: {cls.name} has {len(methods)} public methods"
                )
    return found


def _public_methods(cls: ast.ClassDef) -> set[str]:
    return {
        node.name
        for node in cls.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("_")
    }


def wide_constructors(tree: SourceTree) -> list[str]:
    found = []
    for module in tree.package:
        for function in module.functions():
            if function.name != "__init__":
                continue
            arguments = function.args
            count = len(arguments.posonlyargs + arguments.args + arguments.kwonlyargs) - 1
            if count > CONSTRUCTOR_PARAMETERS_MAX:
                found.append(f"{module.place}:{function.lineno}: {count} constructor parameters")
    return found


def knows_too_many(tree: SourceTree) -> list[str]:
    found = []
    for module in tree.package:
        has_reason = WIDTH_REASON in _on_one_line(module.docstring)
        limit = PROJECT_IMPORTS_WITH_REASON_MAX if has_reason else PROJECT_IMPORTS_MAX
        count = len(module.project_imports())
        if count > limit:
            found.append(f"{module.place}: imports {count} modules of the project; {limit} at most")
    return found


def known_by_too_many(tree: SourceTree) -> list[str]:
    count = Counter(name for module in tree.package for name in module.project_imports())
    return [
        f"{name}: imported by {times} modules"
        for name, times in sorted(count.items())
        if times > IMPORTED_BY_MAX and not name.startswith(IMPORTED_BY_ALL)
    ]


def thin_docstrings(tree: SourceTree) -> list[str]:
    """A line for a package or for the invariant of a fuzz target; a module has laws to tell."""
    return [
        f"{module.place}: the module docstring has {lines} lines; {wanted} at least"
        for module in tree.package + tree.programs
        if (lines := len(module.docstring.splitlines())) < (wanted := _docstring_lines(module))
    ]


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _docstring_lines(module: Module) -> int:
    return 1 if module.is_package or module.place.startswith("fuzz/") else 2


def _lines_without_docstring(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    assert function.end_lineno is not None  # the parser always sets it
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function, clean=False) is not None:
        docstring = function.body[0]
        assert docstring.end_lineno is not None
        lines -= docstring.end_lineno - docstring.lineno + 1
    return lines
