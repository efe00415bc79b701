"""The load generator of `load/`: compiled when its sources have changed, run on chosen processors.

A run is one process of its own that prints one JSON line; see the head of `load/load.c`.
"""

import functools
import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "bench"
# Answers are waited for for ten seconds at the end; ten thousand topics may take minutes.
RUN_SECONDS_MAX = 3600

Figures = dict[str, Any]


class LoadError(Exception):
    """The generator could not be built, or ended without a figure."""


def compile_load(folder: Path = BUILD, *, with_openssl: bool = False) -> Path:
    """The generator for remoting. `with_openssl`: it can sign requests and speak TLS."""
    name, options = ("load-openssl", ["-DWITH_OPENSSL"]) if with_openssl else ("load", [])
    libraries = ["-lssl", "-lcrypto"] if with_openssl else []
    return compile_program(folder / name, ["load"], options, libraries)


def compile_program(
    program: Path,
    sources: Sequence[str],
    options: Sequence[str] = (),
    libraries: Sequence[str] = (),
) -> Path:
    """The program, newer than its sources: those of the first folder, and the headers that it
    takes of the others."""
    newest = max(file.stat().st_mtime for name in sources for file in (HERE / name).iterdir())
    if program.exists() and program.stat().st_mtime > newest:
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    command = ["cc", "-O2", "-std=gnu11", "-Wall", "-Wextra", *options, "-o", str(program)]
    units = [str(file) for file in sorted((HERE / sources[0]).iterdir()) if file.suffix == ".c"]
    done = subprocess.run(
        [*command, *units, *libraries], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise LoadError(f"cc ended with {done.returncode}:\n{done.stderr[-3000:]}")
    return program


def _place(cpus: Iterable[int]) -> Any:
    return functools.partial(os.sched_setaffinity, 0, set(cpus))


def run_load(program: Path, port: int, arguments: Sequence[str], cpus: Iterable[int]) -> Figures:
    """One run; errors are in the figures, for the caller to judge."""
    done = subprocess.run(
        [str(program), *arguments, "--port", str(port)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS_MAX,
        check=False,
        preexec_fn=_place(cpus),
    )
    if not done.stdout:
        raise LoadError(f"load {' '.join(arguments)}: {done.stderr.strip() or done.returncode}")
    figures: Figures = json.loads(done.stdout)
    return figures


class IdleConnections:
    """Connections that have said hello and now say nothing, while the context lasts."""

    def __init__(self, program: Path, port: int, count: int, cpus: Iterable[int]) -> None:
        self._process = subprocess.Popen(
            [str(program), "idle", "--connections", str(count), "--port", str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=_place(cpus),
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        self.figures: Figures = json.loads(line) if line else {"count": 0, "errors": count}
        self.closed = 0
        """How many the server had closed by the end of the context."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        output, _errors = self._process.communicate(timeout=60)
        self.closed = json.loads(output)["closed"] if output else -1
