"""The console's pages: built from `console` into the package, and checked.

    python -m tools.console_pages build    src/aerobee/console/assets, by esbuild
    python -m tools.console_pages check    types (tsc) and lint (biome)

npm installs exactly what console/package-lock.json has, by its hashes, and only if that changed. A
build takes what bundles and what is bundled; a check takes the tools for checks, too.
"""

import subprocess
import sys

from tools.locked import ROOT
from tools.node import Node, NoNode, find_node

CONSOLE = ROOT / "console"
MODULES = CONSOLE / "node_modules"
AXE = MODULES / "axe-core/axe.min.js"
"""The rules of accessibility that the tests of the pages run."""
_SEEN = MODULES / ".package-lock.json"


class BuildFailed(Exception):
    """npm, the bundler or a check ended with an error."""


def install(node: Node, *, with_tools: bool) -> None:
    """Put the locked packages into console/node_modules, if they are not there."""
    lock = CONSOLE / "package-lock.json"
    is_new = _SEEN.exists() and _SEEN.stat().st_mtime >= lock.stat().st_mtime
    if is_new and (AXE.exists() or not with_tools):
        return
    wanted = [] if with_tools else ["--omit=dev"]
    _run(node, *node.npm, "ci", "--loglevel=error", *wanted)
    _SEEN.touch()


def build(node: Node) -> None:
    install(node, with_tools=False)
    _run(node, node.program, "build.mjs")


def check(node: Node) -> None:
    install(node, with_tools=True)
    _run(node, *node.npm, "run", "--silent", "types")
    _run(node, *node.npm, "run", "--silent", "lint")


def _run(node: Node, *command: str) -> None:
    ran = subprocess.run(command, cwd=CONSOLE, env=node.environment(), check=False)
    if ran.returncode:
        raise BuildFailed(f"{' '.join(command)}: status {ran.returncode}")


if __name__ == "__main__":
    try:
        {"build": build, "check": check}[sys.argv[1]](find_node())
    except (BuildFailed, NoNode) as error:
        sys.exit(f"console: {error}")
