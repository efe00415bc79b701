"""The declarations of a .pxd, read without the compiler: classes, functions, variables, cimports.

It understands the subset of Cython that this project writes: one declaration a line (brackets may
span lines), `#` comments, no bodies. Blocks of foreign C (`cdef extern`) and C types (`cdef
struct`, `cdef enum`) are passed over.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_CLASS = re.compile(r"cdef class (\w+)")
_FROM = re.compile(r"from ([\w.]+) cimport \(?([^)]*)\)?$")
_WHOLE = re.compile(r"cimport ([\w.]+)")
_CALLABLE = re.compile(r"(?:cdef|cpdef) (?:.*?[\s*])?(\w+)\s*\(")
_FOREIGN = re.compile(r"(cdef extern|cdef struct|cdef union|cdef enum|cpdef enum|ctypedef)\b")


@dataclass
class DeclaredClass:
    name: str
    attributes: set[str] = field(default_factory=set)


@dataclass
class Declaration:
    classes: list[DeclaredClass] = field(default_factory=list)
    callables: set[str] = field(default_factory=set)
    """Names of functions, and of methods as `Class.method`."""
    silent: set[str] = field(default_factory=set)
    """Those of them marked `noexcept`: what they raise is printed and lost."""
    variables: set[str] = field(default_factory=set)
    """C variables of the module."""
    cimports: dict[str, set[str]] = field(default_factory=dict)
    """Module → the names taken from it."""

    @property
    def project_cimports(self) -> set[str]:
        return {module for module in self.cimports if module.split(".")[0] == "aerobee"}


def read_declaration(path: Path) -> Declaration:
    found = Declaration()
    current: DeclaredClass | None = None
    foreign = False
    for indented, line in _statements(path.read_text("utf-8")):
        if not indented:
            current, foreign = None, _FOREIGN.match(line) is not None
        if foreign or line.startswith("@"):
            continue
        if match := _CLASS.match(line):
            current = DeclaredClass(match[1])
            found.classes.append(current)
        elif match := _FROM.match(line):
            names = {name.split(" as ")[0].strip() for name in match[2].split(",")}
            found.cimports.setdefault(match[1], set()).update(names - {""})
        elif match := _WHOLE.match(line):
            found.cimports.setdefault(match[1], set())
        elif match := _CALLABLE.match(line):
            name = f"{current.name}.{match[1]}" if current else match[1]
            found.callables.add(name)
            if line.endswith("noexcept") or " noexcept " in line:
                found.silent.add(name)
        elif line.startswith("cdef "):
            (current.attributes if current else found.variables).update(_variable_names(line))
    return found


def _variable_names(line: str) -> Iterator[str]:
    """The names of `cdef public unsigned int a, *b, c[4]`."""
    for part in line.removeprefix("cdef ").split(","):
        yield re.sub(r"\[\d*\]$", "", part.split()[-1]).lstrip("*")


def _statements(text: str) -> Iterator[tuple[bool, str]]:
    """(whether indented, the statement on one line), comments and blank lines left out."""
    text = re.sub(r'"""(.|\n)*?"""', '""', text)
    waiting = ""
    for raw in text.splitlines():
        line = raw.split("#")[0].rstrip()
        if not line:
            continue
        waiting = f"{waiting} {line.strip()}" if waiting else line
        if waiting.count("(") > waiting.count(")"):
            continue
        yield waiting[0].isspace(), waiting.strip()
        waiting = ""
