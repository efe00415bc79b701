"""mqadmin of Apache's release in one JVM: started once, told one command after the other.

For Apache's side its name server and its broker run in the same JVM: one is enough, and mqadmin
cannot tell. `AdminRun.java` says what is asked and answered.
"""

import json
import queue
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from tests.interop.apache import BUILD, ApacheError, Jars, redo_when_changed, run_tool
from tests.interop.apache import install as install_apache

HERE = Path(__file__).parent
START_SECONDS_MAX = 90
ANSWER_SECONDS_MAX = 120

_OPTIONS = ("-Xms64m", "-Xmx512m")


class Printed(NamedTuple):
    """What a command has printed, and whether it came to its end."""

    text: str
    ended: bool


def install() -> Jars:
    """Apache's jars, with `AdminRun` before them."""
    install_apache()
    jars, classes = BUILD / "jars", BUILD / "mqadmin"
    program = HERE / "AdminRun.java"

    def build() -> None:
        shutil.rmtree(classes, ignore_errors=True)
        options = ["-nowarn", "-proc:none", "-cp", f"{jars}/*", "-d", str(classes)]
        run_tool(["javac", *options, str(program)])

    redo_when_changed(BUILD / "mqadmin.stamp", [HERE.parent / "pom.xml", program], build)
    return Jars(f"{classes}:{jars}/*")


class Admin:
    """The running JVM; killed at the end."""

    def __init__(self, folder: Path, name_server: str, files: Sequence[Path] = ()) -> None:
        """`files`: the settings of Apache's name server and broker, if they are to run in it."""
        folder.mkdir(parents=True, exist_ok=True)
        self._errors = folder / "mqadmin.err"
        homes = ("-Duser.home=", "-Djava.io.tmpdir=", "-Drocketmq.home.dir=")
        options = (*_OPTIONS, *(f"{home}{folder}" for home in homes))
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                install().command("AdminRun", name_server, *map(str, files), options=options),
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                encoding="utf-8",
            )
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        try:
            self._next(START_SECONDS_MAX)
        except ApacheError:
            self.__exit__()
            raise

    def run(self, arguments: Sequence[str], seconds: int) -> Printed:
        answer = self.tell({"do": "run", "arguments": list(arguments), "ms": seconds * 1000})
        return Printed(answer["text"], answer["ended"])

    def tell(self, step: Mapping[str, object]) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(step) + "\n")
        self._process.stdin.flush()
        return self._next(ANSWER_SECONDS_MAX)

    def _next(self, seconds: int) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            raise ApacheError(f"mqadmin has been silent for {seconds} s") from None
        if line is None:
            errors = self._errors.read_text(errors="replace")[-3000:]
            raise ApacheError(f"mqadmin has ended:\n{errors}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
