"""Checks of what `make wheel` built: the contents of the archives, and a first message with each.

A trial begins with an empty environment and installs one archive into it, as a user does. Other
packages come from a folder of locked ones, not from an index. Without a compiler means: the PATH is
the environment's own folder, and the compiler that a build is told of fails. Then the installed
commands run: a name server and a broker, a message by the command line and by a Python program, a
load test of a second.
"""

import os
import re
import signal
import subprocess
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOUD = "aerobee runs as PURE PYTHON"
COMPILED, PURE = "compiled: all ", "PURE PYTHON"
SECONDS_MAX = 900
_PAGE = r"console/assets/index\.html"

_PROGRAM = """
import sys, aerobee
with aerobee.connect_sync(sys.argv[1]) as client:
    client.send("trial", "by a program", tag="greeting", keys=["p-1"])
    print(client.receive("trial", group="readers").body.decode())
"""


class TrialFailed(Exception):
    """An archive does not hold what it should, or what it installs does not work."""


def wheel_breaches(wheel: Path) -> list[str]:
    """What is missing in a wheel, and what should not be there."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    hot = [name[:-4] for name in names if name.endswith(".pxd") and f"{name[:-4]}.py" in names]
    extensions = {name.split(".")[0] for name in names if name.endswith(".so")}
    found = [f"{name}.py is not compiled" for name in sorted(set(hot) - extensions)]
    if not hot:
        found.append("there is no .pxd: the package would not know its hot modules")
    folders = r"aerobee|pyspark_\w+|aerobee-[^/]+\.dist-info"
    found += _strangers(names, rf"({folders})/.*(?<!\.c)")
    wanted = ("aerobee/py.typed", r"aerobee-.*/licenses/LICENSE", f"aerobee/{_PAGE}")
    return found + _missing(names, *wanted)


def source_breaches(archive: Path) -> list[str]:
    """What is missing in a source distribution, and what should not be there."""
    with tarfile.open(archive) as opened:
        names = {member.name.partition("/")[2] for member in opened if member.isfile()}
    top = r"PKG-INFO|LICENSE|README\.md|pyproject\.toml|setup\.(py|cfg)"
    found = _strangers(names, rf"{top}|src/.*(?<!\.so)(?<!\.c)")
    wanted = ("setup.py", "pyproject.toml", "LICENSE", "src/aerobee/py.typed")
    return found + _missing(names, *wanted, r"src/aerobee/.*\.pxd", f"src/aerobee/{_PAGE}")


def _strangers(names: set[str], allowed: str) -> list[str]:
    return [f"{name} does not belong" for name in sorted(names) if not re.fullmatch(allowed, name)]


def _missing(names: set[str], *patterns: str) -> list[str]:
    return [
        f"{pattern} is missing"
        for pattern in patterns
        if not any(re.fullmatch(pattern, name) for name in names)
    ]


class Trial:
    """An empty environment of one Python, with or without a compiler."""

    def __init__(self, python: str, folder: Path, packages: Path, compiler: bool) -> None:
        subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
        self._folder = folder
        self._packages = packages
        self._environment = {
            key: text
            for key, text in os.environ.items()
            if key != "PYTHONPATH" and not key.endswith("_CYTHON")
        } | {"HOME": str(folder)}
        if not compiler:
            self._environment |= {"PATH": str(folder / "bin"), "CC": "/bin/false"}

    def install(self, archive: Path) -> str:
        """Install the archive; what pip said, builds included."""
        here = ("--no-index", "--find-links", str(self._packages))
        return self.run("pip", "install", "--verbose", "--no-cache-dir", *here, str(archive))

    def run(self, program: str, *arguments: str) -> str:
        """Run a program of the environment; what it wrote on both ways out."""
        ran = subprocess.run(
            [self._folder / "bin" / program, *arguments],
            cwd=self._folder,  # not where `import aerobee` finds the sources
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )
        if ran.returncode:
            said = f"{program} {' '.join(arguments)}: status {ran.returncode}"
            raise TrialFailed(f"{said}\n{ran.stdout}")
        return ran.stdout

    def is_built_as(self, expected: str) -> None:
        report = "from aerobee._compiled import report; print(report())"
        self._expect(expected, self.run("python", "-c", report))

    def exchange_messages(self) -> None:
        """Everything of the README's first page, and a load test."""
        with self._cluster() as name_server:
            to = ("-n", name_server)
            self.run("aerobee", "topic", "create", *to, "trial")
            self._expect("by a program", self.run("python", "-c", _PROGRAM, name_server))
            self.run("aerobee", "message", "send", *to, "trial", "by a command")
            read = ("--from", "earliest", "--count", "2")
            self._expect(
                "by a command", self.run("aerobee", "message", "tail", *to, "trial", *read)
            )
            brief = ("--duration", "1s", "--warm-up", "0s")
            self._expect("sent/s", self.run("aerobee", "bench", "produce", *to, *brief))

    def _expect(self, text: str, said: str) -> None:
        if text not in said:
            raise TrialFailed(f"{text!r} was expected of {self._folder}:\n{said}")

    @contextmanager
    def _cluster(self) -> Iterator[str]:
        """`aerobee up` on free ports, and its name server's address."""
        up = subprocess.Popen(
            [self._folder / "bin/aerobee", "up", "--temp", "--port", "0", "--nameserver-port", "0"],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert up.stdout is not None
        try:
            ready = up.stdout.readline()
            found = re.match(r"ready: nameserver (\S+),", ready)
            if found is None:
                raise TrialFailed(f"aerobee up is not ready: {ready}")
            # A full pipe would stop it.
            reader = threading.Thread(target=up.stdout.read)
            reader.start()
            yield found.group(1)
            up.send_signal(signal.SIGTERM)
            if up.wait(timeout=60):
                raise TrialFailed(f"aerobee up ended with status {up.returncode}")
            reader.join()
        finally:
            up.kill()
            up.wait()


def try_wheel(python: str, folder: Path, packages: Path, wheel: Path) -> None:
    """The wheel, where there is no compiler: compiled, and working."""
    trial = Trial(python, folder, packages, compiler=False)
    trial.install(wheel)
    trial.is_built_as(COMPILED)
    trial.exchange_messages()


def try_source(python: str, folder: Path, packages: Path, archive: Path) -> None:
    """The source distribution: with a compiler compiled; without one pure, and told so."""
    with_compiler = Trial(python, folder / "with-compiler", packages, compiler=True)
    said = with_compiler.install(archive)
    if LOUD in said:
        raise TrialFailed(f"the build warned of pure Python, where it should compile:\n{said}")
    with_compiler.is_built_as(COMPILED)
    with_compiler.exchange_messages()
    without = Trial(python, folder / "without-compiler", packages, compiler=False)
    said = without.install(archive)
    if LOUD not in said:
        raise TrialFailed(f"the build did not warn of pure Python:\n{said}")
    without.is_built_as(PURE)
    without.exchange_messages()
