"""RocketMQ's mqadmin and ours on one cluster, command by command, and whether they say the same.

What cannot be the same is masked: times, ids, rates, and with `is_moving` every number. What Java
keeps in hash maps comes in an order of its own, so lines and maps are sorted.
"""

import contextlib
import io
import json
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from aerobee.cli.mqadmin.entry import main
from tests.interop.mqadmin.admin import Admin
from tests.interop.mqadmin.pairs import (
    FIRST_SIDE,
    GROUP,
    SECOND_SIDE,
    TOPIC,
    BothFail,
    Pair,
    Step,
)

SECONDS_MAX = 30
ENDLESS_SECONDS = 5
PATIENCE_SECONDS = 40
SIDE = "Sides"

_MASKS = (
    (r"\b[0-9A-F]{40,56}\b {0,1}|\b[0-9A-F]{32}\b {0,25}", "ID "),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(,\d{3})?", "TIME"),
    (r"(?<![\d.])\d{13}(?!\d)", "MS"),
    (r"(?<![\d.])\d{17}(?!\d)", "MS"),
    (r"\b\d+ms", "Nms"),
    (r"(?<![\d.])\d+\.\d+(?![\d.])", "RATE"),
    (r"(?<=Pub        )\S+ +", "GROUP "),
)
_MAP = re.compile(r"\{([^{}]*=[^{}]*)\}")


class Printed(NamedTuple):
    out: str
    status: int = 0
    error: str = ""


class Compared(NamedTuple):
    """What a pair came to: `fault` is empty where both say the same."""

    theirs: str
    ours: str
    fault: str = ""


class SideBySide:
    def __init__(self, admin: Admin, name_server: str, address: str, folder: Path) -> None:
        self.found: dict[Pair | BothFail, Compared] = {}
        self.explained: list[Any] = []
        self._admin = admin
        self._name_server = name_server
        self._folder = folder
        self._words = {
            "topic": TOPIC,
            "group": GROUP,
            "address": address,
            "folder": str(folder),
        }
        for side in (FIRST_SIDE, SECOND_SIDE):
            topic = {"topicName": f"Listed{side}", "readQueueNums": 1, "writeQueueNums": 1}
            (folder / f"topics{side}.json").write_text(json.dumps([{**topic, "perm": 6}]))
            (folder / f"groups{side}.json").write_text(json.dumps([{"groupName": f"Listed{side}"}]))

    def prepare(self) -> None:
        """A topic with messages, and a group."""
        self._await("updateTopic -c DefaultCluster -t {topic} -r 4 -w 4", "success")
        self._await("updateSubGroup -c DefaultCluster -g {group}", "success")
        send = "sendMessage -t {topic} -b broker-a"
        sent = self._await(f"{send} -i 0 -p 'first body' -k KeyA -c TagA", "SEND_OK")
        self._words["id"] = sent.split()[-1]
        self._await(f"{send} -i 1 -p 'second body' -k KeyB -c TagB", "SEND_OK")
        sent = self._await(f"{send} -i 2 -p traced -k KeyC -c TagB -m true", "SEND_OK")
        self._words["traced"] = sent.split()[-1]
        self._await("queryMsgTraceById -i {traced}", "Pub")
        found = self._await("queryMsgById -t {topic} -i {id}", "OffsetID")
        self._words["offset_id"] = found.split()[1]

    def go(self, pairs: Iterable[Pair | BothFail | Step]) -> None:
        for one in pairs:
            if isinstance(one, Step):
                self._do(one)
            elif isinstance(one, Pair):
                self.found[one] = self._compare(one)
            else:
                self.found[one] = self._both_fail(one)

    def explain(self) -> None:
        """Have a message and its group explained, as programs are told."""
        for words in (["message", self._words["id"], "--group", GROUP], ["group", GROUP]):
            where = ("-n", self._name_server, "-o", "json")
            run = subprocess.run(
                [sys.executable, "-m", "aerobee.cli.main", "explain", *words, *where],
                capture_output=True,
                check=True,
            )
            self.explained.append(json.loads(run.stdout))

    def _do(self, step: Step) -> None:
        fields = dict(step.fields)
        if step.do == "await":
            self._await(fields["command"], fields["shows"])
            return
        answer = self._admin.tell({"do": step.do, **fields})
        self._words |= {name: str(text) for name, text in answer.items()}

    def _await(self, command: str, shows: str) -> str:
        """Ask ours until it shows something; what it printed."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            text = self._ours(self._filled(command, SECOND_SIDE)).out
            if re.search(shows, text, re.MULTILINE):
                return text
            assert time.monotonic() < deadline, f"{command} never showed {shows}:\n{text}"

    def _compare(self, pair: Pair) -> Compared:
        theirs = self._run(pair, FIRST_SIDE, self._theirs)
        if pair.undo:
            self._theirs(self._filled(pair.undo, FIRST_SIDE))
        ours = self._run(pair, SECOND_SIDE, self._ours)
        if ours.status != 0 and not pair.is_endless:
            return Compared(theirs.out, ours.out, f"ours ended with {ours.status}: {ours.error}")
        said = [masked(printed.out, pair) for printed in (theirs, ours)]
        for name in pair.files:
            for text, side in zip(said, (FIRST_SIDE, SECOND_SIDE), strict=True):
                text.extend(_file_lines(self._out(side) / name, pair))
        return Compared(theirs.out, ours.out, _difference(*said))

    def _run(self, pair: Pair, side: str, run: Callable[..., Printed]) -> Printed:
        printed = run(self._filled(pair.command, side), is_endless=pair.is_endless)
        text = printed.out.replace(FIRST_SIDE, SIDE).replace(SECOND_SIDE, SIDE)
        return printed._replace(out=text)

    def _both_fail(self, one: BothFail) -> Compared:
        theirs = self._theirs(self._filled(one.command, FIRST_SIDE))
        ours = self._ours(self._filled(one.command, SECOND_SIDE))
        fault = ""
        if ours.status == 0 or one.says not in ours.error or "hint: " not in ours.error:
            fault = f"ours ended with {ours.status}: {ours.out}{ours.error}"
        elif "TopicConfig" in theirs.out:
            fault = "theirs works"
        return Compared(theirs.out, ours.error, fault)

    def _out(self, side: str) -> Path:
        return self._folder / "export" / side

    def _filled(self, command: str, side: str) -> list[str]:
        words = {**self._words, "side": side, "out": str(self._out(side))}
        for name, word in words.items():
            command = command.replace(f"{{{name}}}", word)
        return [*shlex.split(command), "-n", self._name_server]

    def _theirs(self, words: list[str], *, is_endless: bool = False) -> Printed:
        seconds = ENDLESS_SECONDS if is_endless else SECONDS_MAX
        return Printed(self._admin.run(words, seconds).text)

    def _ours(self, words: list[str], *, is_endless: bool = False) -> Printed:
        if is_endless:
            return self._ours_for_a_while(words)
        out, error = io.StringIO(), io.StringIO()
        with (
            contextlib.chdir(self._folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(error),
        ):
            status = main(words)
        return Printed(out.getvalue(), status, error.getvalue())

    def _ours_for_a_while(self, words: list[str]) -> Printed:
        program = [sys.executable, "-u", "-m", "aerobee.cli.mqadmin.entry", *words]
        try:
            run = subprocess.run(
                program, capture_output=True, timeout=2 * ENDLESS_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as error:
            return Printed((error.stdout or b"").decode(), -1, "it still runs")
        return Printed(run.stdout.decode(), run.returncode, run.stderr.decode())


def masked(text: str, pair: Pair) -> list[str]:
    """The lines that are compared."""
    lines = []
    for line in text.splitlines():
        said = _MAP.sub(_sorted_map, line)
        for pattern in pair.drops:
            said = re.sub(pattern, "", said)
        if line and not said:
            continue
        for pattern, word in _MASKS:
            said = re.sub(pattern, word, said)
        if pair.is_moving:
            said = re.sub(r" *\d+ *", "N ", said)
        lines.append(said.rstrip())
    if pair.is_endless:
        lines = list(dict.fromkeys(lines))
    return lines if pair.is_fixed_order else sorted(lines)


def _sorted_map(found: re.Match[str]) -> str:
    return "{" + ", ".join(sorted(found[1].split(", "))) + "}"


def _file_lines(path: Path, pair: Pair) -> list[str]:
    """Every member of a JSON file with its value, masked."""
    lines = []
    for line in sorted(_members(json.loads(path.read_text()))):
        said = line.replace(FIRST_SIDE, SIDE).replace(SECOND_SIDE, SIDE)
        for pattern in pair.drops:
            said = re.sub(pattern, "", said)
        said = re.sub(r"(?<==)\d{13}$", "MS", said)
        lines.append(re.sub(r"[\d.]+", "N", said) if pair.is_moving else said)
    return sorted(filter(None, lines))


def _members(value: Any, path: str = "") -> Iterable[str]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _members(member, f"{path}/{name}")
    elif isinstance(value, list):
        yield f"{path}={sorted(map(str, value))}"
    else:
        yield f"{path}={value}"


def _difference(theirs: list[str], ours: list[str]) -> str:
    if theirs == ours:
        return ""
    missing = [f"- {line}" for line in theirs if line not in ours]
    added = [f"+ {line}" for line in ours if line not in theirs]
    return "\n".join([*missing, *added]) or "the lines come in another order, or another number"
