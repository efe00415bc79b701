"""Rules on which a .pxd and its .py must agree, beyond what the compiler checks.

Each rule stands for a mistake that compiles and then runs wrong: an attribute that exists only in
one mode, a decorator dropped without a word, a name found nowhere at run time, a C variable that
stays 0, an exception that is printed and lost, and an extension older than its source, which
shadows the edit that somebody believes to be testing.
"""

import ast
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from tests.tidy.declaration import Declaration, read_declaration
from tests.tidy.source_tree import Module, SourceTree

Function = ast.FunctionDef | ast.AsyncFunctionDef


def unequal_attributes(tree: SourceTree) -> list[str]:
    """The attributes in the .pxd are the `__slots__` of the .py."""
    found = []
    for place, module, declaration in _pairs(tree):
        slots = {cls.name: _slots(cls) for cls in module.classes()}
        for declared in declaration.classes:
            written = slots.get(declared.name)
            if written is None:
                found.append(f"{place}: {declared.name} has no __slots__ in the .py")
            elif written != declared.attributes:
                different = ", ".join(sorted(written ^ declared.attributes))
                found.append(f"{place}: {declared.name}: only on one side: {different}")
    return found


def unmatched_cimports(tree: SourceTree) -> list[str]:
    """Every module cimported is imported too, so that the layer contracts see the arrow.

    A .pxd without a .py holds C twins and is no module: there is nothing to import.
    """
    return [
        f"{place}: cimports {name}, which the .py does not import"
        for place, module, declaration in _pairs(tree)
        for name in sorted(declaration.project_cimports - module.project_imports())
        if tree.declaration_of(name).with_suffix(".py").exists()
    ]


def names_lost_when_compiled(tree: SourceTree) -> list[str]:
    """What the .py imports only when interpreted, the .pxd cimports."""
    found = []
    for place, module, declaration in _pairs(tree):
        taken = set().union(*declaration.cimports.values()) if declaration.cimports else set()
        lost = _interpreted_names(module) - taken
        found += [f"{place}: does not cimport {name}" for name in sorted(lost)]
    return found


def decorated_functions(tree: SourceTree) -> list[str]:
    return [
        f"{module.place}:{function.lineno}: the compiler drops @{ast.unparse(decorator)}"
        for _, module, declaration in _pairs(tree)
        for name, function in _functions(module)
        if name in declaration.callables
        for decorator in function.decorator_list
        if not ast.unparse(decorator).startswith("cython.")
    ]


def swallowed_errors(tree: SourceTree) -> list[str]:
    return [
        f"{module.place}:{node.lineno}: {name} is noexcept: this error would be lost"
        for _, module, declaration in _pairs(tree)
        for name, function in _functions(module)
        if name in declaration.silent
        for node in ast.walk(function)
        if isinstance(node, ast.Raise | ast.Assert)
    ]


def unset_variables(tree: SourceTree) -> list[str]:
    """Every C variable of a module is assigned at its top; one that is not would be 0."""
    found = []
    for place, module, declaration in _pairs(tree):
        targets: set[str] = set()
        for node in module.syntax.body:
            for target in node.targets if isinstance(node, ast.Assign) else ():
                targets.update(ast.unparse(target).strip("()").replace(" ", "").split(","))
            if isinstance(node, ast.AnnAssign) and node.value is not None:
                targets.add(ast.unparse(node.target))
        found += [
            f"{place}: {name} is never assigned" for name in sorted(declaration.variables - targets)
        ]
    return found


def silent_modules(tree: SourceTree) -> list[str]:
    return [
        f"{module.place}: has no is_compiled()"
        for _, module, _ in _pairs(tree)
        if "is_compiled" not in dict(_functions(module))
    ]


def stale_extensions(tree: SourceTree) -> list[str]:
    """No extension is older than what it is made of, and none has lost its source."""
    found = []
    for path in sorted((tree.root / "src").rglob("*")):
        stem = _extension_stem(path)
        if stem is None:
            continue
        source = path.with_name(stem + ".py")
        declaration = source.with_suffix(".pxd")
        if not source.exists() or not declaration.exists():
            found.append(f"{tree.place(path)}: its .py or .pxd is gone; remove it")
            continue
        made_from = {source, *_all_declarations(tree, declaration)}
        newer = [part for part in made_from if part.stat().st_mtime > path.stat().st_mtime]
        for part in sorted(newer):
            found.append(f"{tree.place(path)}: older than {part.name}; build it again")
    return found


def _pairs(tree: SourceTree) -> Iterator[tuple[str, Module, Declaration]]:
    for path in tree.declarations:
        module = tree.module_beside(path)
        if module is not None:
            yield tree.place(path), module, read_declaration(path)


def _slots(cls: ast.ClassDef) -> set[str] | None:
    for node in cls.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__slots__":
            value = ast.literal_eval(node.value)
            return {value} if isinstance(value, str) else set(value)
    return None


def _functions(module: Module) -> Iterator[tuple[str, Function]]:
    """(name as a .pxd is read: `function` or `Class.method`, its definition)."""
    for node in module.syntax.body:
        if isinstance(node, Function):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, Function):
                    yield f"{node.name}.{inner.name}", inner


def _interpreted_names(module: Module) -> set[str]:
    """Names imported under `if not cython.compiled:`."""
    return {
        alias.asname or alias.name
        for node in module.syntax.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "not cython.compiled"
        for inner in node.body
        if isinstance(inner, ast.ImportFrom)
        for alias in inner.names
    }


def _extension_stem(path: Path) -> str | None:
    """The module's name, of an extension that this Python would load."""
    for suffix in EXTENSION_SUFFIXES:
        if path.name.endswith(suffix):
            stem = path.name.removesuffix(suffix)
            return None if "." in stem else stem  # a dot: the tag of another Python
    return None


def _all_declarations(tree: SourceTree, first: Path) -> set[Path]:
    """A .pxd and every .pxd it cimports, however far."""
    seen: set[Path] = set()
    waiting = [first]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in read_declaration(path).project_cimports:
            other = tree.declaration_of(name)
            if other.exists():
                waiting.append(other)
    return seen
