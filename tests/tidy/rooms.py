"""Rules of the house: how many modules a level holds, which packages need a contract, which names.

A package with rooms (sub-packages) keeps on its own level only doors and ground, and an exhaustive
layers contract says which room may import which. `docs/pictures/rooms.svg` shows the contracts.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.tidy.source_tree import Module, SourceTree

MODULES_MAX = 20
"""On one level; 5 to 15 is the aim."""
CATALOGUES = ("cli/commands", "protocol/bodies", "protocol/headers")
"""Levels where a module is one entry of a list that RocketMQ or the command line gives."""

# A docstring that begins so makes its reader guess the subject.
_NO_SUBJECT = re.compile(r"(What|How|Which|Where|When|Who|Whom|Whose|Whoever|Whatever|Whether)\b")


def crowded_levels(tree: SourceTree) -> list[str]:
    count: dict[str, int] = defaultdict(int)
    for module in tree.package:
        if not module.is_package:
            count[_level(module)] += 1
    return [
        f"src/aerobee/{level}: {modules} modules on one level; {MODULES_MAX} at most"
        for level, modules in sorted(count.items())
        if modules > MODULES_MAX and level not in CATALOGUES
    ]


def rooms_without_contract(tree: SourceTree) -> list[str]:
    """Every package with sub-packages is the container of an exhaustive layers contract."""
    packages = {module.name for module in tree.package if module.is_package}
    with_rooms = {name.rpartition(".")[0] for name in packages if "." in name}
    contracted = {name for name, _ in layer_contracts(tree.root / "pyproject.toml")}
    return [f"{name}: has rooms and no contract" for name in sorted(with_rooms - contracted)]


def repeated_classes(tree: SourceTree) -> list[str]:
    """In a layer a public class has a name of its own: a search finds the one that is meant."""
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for module in tree.package:
        layer = module.name.split(".")[1:2]
        for cls in module.classes():
            if layer and not cls.name.startswith("_") and cls in module.syntax.body:
                places[layer[0], cls.name].append(module.place)
    return [
        f"{name} is a class of {' and of '.join(found)}"
        for (_, name), found in sorted(places.items())
        if len(found) > 1
    ]


def docstrings_without_subject(tree: SourceTree) -> list[str]:
    """The first sentence names the thing that it is about."""
    return [
        f"{module.place}: begins with {found.group()!r}: name the thing, and say what it does"
        for module in tree.package + tree.programs + tree.tests
        if (found := _NO_SUBJECT.match(module.docstring))
    ]


def layer_contracts(pyproject: Path) -> Iterator[tuple[str, list[list[str]]]]:
    """Containers of exhaustive layers contracts, with their layers from top to bottom."""
    contracts = tomllib.loads(pyproject.read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    for contract in contracts:
        if contract["type"] == "layers" and contract.get("exhaustive"):
            layers = [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]
            for container in contract["containers"]:
                yield container, layers


def _level(module: Module) -> str:
    return module.place.removeprefix("src/aerobee/").rpartition("/")[0]
