"""Words and names that have no place in the tree, and what to do instead.

The patterns are put together from pieces, so that this file does not contain what it forbids.
"""

import re
from collections.abc import Iterator

from tests.tidy.source_tree import Module, SourceTree

_MARKERS = "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"])
_MACHINE_ROOTS = "|".join(["work", "root", "home", "Users", "tmp", "opt"])

BANNED_TEXT = [
    (
        re.compile(rf"\b({_MARKERS})\b"),
        "a task marker: do it, or file it",
    ),
    (
        re.compile(rf"(?<![\w.])/({_MACHINE_ROOTS})/"),
        "a path of one machine: take it from the environment or from an argument",
    ),
    (
        re.compile("|".join(["pypi" + r"\.org", "python" + "hosted", "repo1?" + r"\.maven"])),
        "a registry's address: every tool has its own setting for it",
    ),
    (
        re.compile(r"(?i)\b(issue|ticket)" + r" #?\d{1,3}\b"),
        "a number that only a tracker explains: say the reason",
    ),
]

_NAMELESS = r"_*(utils?|common|helpers?|manager|impl|misc|base)_*"
NAMELESS_CLASS = re.compile(r"(Manager|Impl|Helper|Utils?|Base)$|^(Abstract|Default)")


def banned_text(tree: SourceTree) -> list[str]:
    return [
        f"{place}:{number}: {found.group(0)!r} is {advice}"
        for place, text in tree.texts()
        for number, line in enumerate(text.splitlines(), 1)
        for pattern, advice in BANNED_TEXT
        if (found := pattern.search(line))
    ]


def nameless_things(tree: SourceTree) -> list[str]:
    """Names that say only that something has no place yet."""
    found = []
    for module in _all_modules(tree):
        if re.fullmatch(_NAMELESS, module.name.split(".")[-1]):
            found.append(f"{module.place}: name the module after what it holds")
        for cls in module.classes():
            if NAMELESS_CLASS.search(cls.name):
                found.append(f"{module.place}:{cls.lineno}: name {cls.name} after what it is")
    return found


def _all_modules(tree: SourceTree) -> Iterator[Module]:
    yield from tree.package
    yield from tree.tests
    yield from tree.programs
