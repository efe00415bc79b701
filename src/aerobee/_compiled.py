"""Report of the hot modules: which run as C in this process, and which as plain Python.

A module is hot when a .pxd of its name lies beside its .py; `setup.py` compiles exactly those.
Whether that worked is easy to miss (installers hide what a build prints) and costs a factor of
several, so `make build` ends with `report()`, and `aerobee doctor` counts.
"""

from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

_PACKAGE = Path(__file__).parent

HOT_MODULES: tuple[str, ...] = tuple(
    sorted(
        ".".join((_PACKAGE.name, *pxd.with_suffix("").relative_to(_PACKAGE).parts))
        for pxd in _PACKAGE.rglob("*.pxd")
        if pxd.with_suffix(".py").exists()
    )
)


def is_compiled(name: str) -> bool:
    """Whether the module `name` is C here, loaded already or not."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return False
    return spec.origin.endswith(tuple(EXTENSION_SUFFIXES))


def report() -> str:
    """One line for people: how much of what should be compiled is."""
    pure = [name for name in HOT_MODULES if not is_compiled(name)]
    total = len(HOT_MODULES)
    if not pure:
        return f"compiled: all {total} hot modules run as C"
    if len(pure) == total:
        return f"PURE PYTHON, several times slower: none of {total} hot modules is compiled"
    return f"PARTLY COMPILED: {total - len(pure)} of {total} hot modules; pure: {', '.join(pure)}"
