"""RocketMQ's official gRPC client as a process (`tests.grpc_program`), the topics of its stories,
and what it tells of them wherever everything is right.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

import aerobee
from aerobee.model.group import GroupConfig
from tests.process_kit import SECONDS_MAX

TOPICS = {
    "normal": "NORMAL",
    "sql": "NORMAL",
    "pushed": "NORMAL",
    "mixed": "NORMAL",
    "fifo": "FIFO",
    "delay": "DELAY",
    "tx": "TRANSACTION",
    "priority": "PRIORITY",
    "refusals": "PRIORITY",
}
TOLD: dict[str, object] = {
    "normal": {
        "first": ["first", "A", ["k1"], {"color": "red"}],
        "is_id_kept": True,
        "attempts": [1, 2],
        "second": "second",
    },
    "sql": "size 5",
    "pushed": [["bad", 1], ["bad", 2], ["better", 1], ["good", 1]],
    "fifo": ["f0", "f1", "bad", "bad", "f2", "f3"],
    "delay": ["late", False],
    "transaction": [["committed", "orphaned"], ["orphaned"]],
    "priority": [["p99", 99], ["p2", 2], ["p1", 1], ["p0", 0], ["p0", 0]],
}
"""By story."""


class Official:
    """The program of the official client."""

    def __init__(self, home: Path, port: int, *words: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.grpc_program", str(port), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "HOME": str(home), **environment},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self.process:  # its pipes are closed, also those of one that has ended by itself
            if self.process.poll() is None:
                self.process.kill()

    def hear(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def ask(self, line: str) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.hear()

    def end(self) -> int:
        self.process.communicate(timeout=SECONDS_MAX)
        return self.process.returncode


def make_topics(client: aerobee.SyncClient) -> None:
    for topic, kind in TOPICS.items():
        queues = 4 if kind == "PRIORITY" else 2
        client.admin.topics.create(topic, queues=queues, attributes={"message.type": kind})
    client.admin.groups.put(GroupConfig("fifo", is_orderly=True, retries_max=1))


def stories(home: Path, port: int, **environment: str) -> dict[str, Any]:
    """What the client tells of all stories; each is told as `TOLD` has it if all went well."""
    with Official(home, port, "stories", **environment) as program:
        told: dict[str, Any] = json.loads(program.hear())
        assert program.end() == 0
    told["fifo"] = [body for body, _ in told["fifo"]]
    return told
