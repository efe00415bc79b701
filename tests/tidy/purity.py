"""The core reaches the world only through its ports: the ways that no import shows.

Imports are the linter's business (pyproject.toml); a built-in needs none.
"""

import ast

from tests.tidy.source_tree import SourceTree

_WORLDLY = {"open", "print", "input", "breakpoint", "__import__", "eval", "exec", "compile"}


def worldly_builtins(tree: SourceTree) -> list[str]:
    return [
        f"{module.place}:{node.lineno}: the core may not use {node.id}()"
        for module in tree.package
        if module.is_core
        for node in ast.walk(module.syntax)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in _WORLDLY
    ]
