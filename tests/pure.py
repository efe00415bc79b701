"""The uncompiled twin of a module, loaded beside the compiled one in the same process.

A twin's own imports of this package are redirected to twins as well: the pure side of a parity
test is pure all the way down, in a world of its own. Its classes are not those of the real world,
those of modules that are never compiled included: take what belongs together from one world.
"""

import importlib.util
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType

import aerobee

_ROOT = Path(aerobee.__file__).parent
HOT_MODULES = sorted(
    "aerobee." + ".".join(pxd.with_suffix("").relative_to(_ROOT).parts)
    for pxd in _ROOT.rglob("*.pxd")
    if pxd.with_suffix(".py").exists()
)
_MODULES = sorted(
    "aerobee." + ".".join(source.with_suffix("").relative_to(_ROOT).parts)
    for source in _ROOT.rglob("*.py")
    if source.name != "__init__.py"
)

_twins: dict[str, ModuleType] = {}


def pure(name: str) -> ModuleType:
    """The module `name` as the interpreter runs it, whatever is compiled."""
    if not _twins:
        _load_all_twins()
    return _twins[name]


def _load_all_twins() -> None:
    """Import the package afresh with source files only, then give the real modules back."""
    real = {key: value for key, value in sys.modules.items() if key.split(".")[0] == "aerobee"}
    for key in real:
        del sys.modules[key]
    finder = _SourceOnly()
    sys.meta_path.insert(0, finder)
    try:
        for name in _MODULES:
            importlib.import_module(name)
        for key, value in list(sys.modules.items()):
            if key.split(".")[0] == "aerobee":
                _twins[key] = value
                del sys.modules[key]
    finally:
        sys.meta_path.remove(finder)
        sys.modules.update(real)


class _SourceOnly:
    """Finds `aerobee` modules in their .py files and nowhere else."""

    def find_spec(
        self, name: str, path: object = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name.split(".")[0] != "aerobee":
            return None
        base = _ROOT.joinpath(*name.split(".")[1:])
        package = base / "__init__.py"
        source = package if package.exists() else base.with_suffix(".py")
        if not source.exists():
            return None
        return importlib.util.spec_from_file_location(
            name,
            source,
            loader=SourceFileLoader(name, str(source)),
            submodule_search_locations=[str(base)] if source is package else None,
        )
