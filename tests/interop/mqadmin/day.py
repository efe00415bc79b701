"""A broker's day with mqadmin: all cases, one after the other, on one server.

What a command shows may be needed by a later one, so a day is gone through whole.
"""

import json
import re
import shlex
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.interop.apache import free_port
from tests.interop.features.servers import AerobeeServer
from tests.interop.mqadmin.admin import Admin, Printed
from tests.interop.mqadmin.cases import (
    BROKER,
    CASES,
    CLUSTER,
    LISTED,
    LISTED_GROUP,
    NAMES,
    Case,
    Step,
)
from tests.interop.mqadmin.judge import Outcome, Verdict, judge

SECONDS_MAX = 30
ENDLESS_SECONDS = 6
PATIENCE_SECONDS = 40

SETTINGS: Mapping[str, object] = {
    "brokerClusterName": CLUSTER,
    "brokerName": BROKER,
    "brokerId": 0,
    "brokerIP1": "127.0.0.1",
    "bindAddress": "127.0.0.1",
    "traceTopicEnable": "true",
    "mappedFileSizeCommitLog": 16 << 20,
}
# Where users are kept: Apache keeps none without it.
APACHE_SETTINGS: Mapping[str, object] = {
    "authenticationMetadataProvider": (
        "org.apache.rocketmq.auth.authentication.provider.LocalAuthenticationMetadataProvider"
    ),
    "authorizationMetadataProvider": (
        "org.apache.rocketmq.auth.authorization.provider.LocalAuthorizationMetadataProvider"
    ),
}


class Day:
    """What was printed and what it came to, case by case."""

    def __init__(self, admin: Admin, folder: Path, name_server: str, port: int) -> None:
        self.known: set[str] = set()
        """The sub-commands that mqadmin says it has."""
        self.printed: dict[Case, Printed] = {}
        self.verdicts: dict[Case, Verdict] = {}
        self.exported: dict[str, Any] = {}
        """What commands wrote into files, by the file's name."""
        self._admin = admin
        self._folder = folder
        self._words = {
            **NAMES,
            "nameserver": name_server,
            "address": f"127.0.0.1:{port}",
            "folder": str(folder),
        }

    def live(self, *, is_apache: bool) -> None:
        text = self._admin.run([], SECONDS_MAX).text
        self.known = set(re.findall(r"^   (\w+) ", text, re.MULTILINE))
        for one in CASES:
            if isinstance(one, Step):
                answer = self._admin.tell({"do": one.do, **one.fields})
                self._words |= {name: str(text) for name, text in answer.items()}
            else:
                self._try(one, one.at_apache() if is_apache else one)
        for file in sorted((self._folder / "export").iterdir()):
            self.exported[file.name] = json.loads(file.read_text(encoding="utf-8"))

    def _try(self, case: Case, judged: Case) -> None:
        deadline = time.monotonic() + (PATIENCE_SECONDS if case.is_patient else 0)
        filled = judged.filled(self._words)
        while True:
            seconds = ENDLESS_SECONDS if case.is_endless else SECONDS_MAX
            printed = self._admin.run(shlex.split(filled.command), seconds)
            verdict = judge(filled, printed)
            if verdict.outcome is not Outcome.FAILS or time.monotonic() > deadline:
                break
        self.printed[case], self.verdicts[case] = printed, verdict
        for name, pattern in case.saves.items():
            found = re.search(pattern, printed.text, re.MULTILINE)
            self._words[name] = found[1] if found is not None else "unknown"


def prepared(folder: Path) -> Path:
    """A folder with the files that commands read."""
    folder.mkdir(parents=True, exist_ok=True)
    topic = {"topicName": LISTED, "readQueueNums": 1, "writeQueueNums": 1, "perm": 6}
    (folder / "topics.json").write_text(json.dumps([topic]))
    (folder / "groups.json").write_text(json.dumps([{"groupName": LISTED_GROUP}]))
    return folder


@contextmanager
def admin_at_apache(folder: Path) -> Iterator[tuple[Admin, str, int]]:
    """Apache's servers and mqadmin in one JVM; the name server's address, the broker's port."""
    port, name_server_port = free_port(), free_port()
    name_server = f"127.0.0.1:{name_server_port}"
    where = {"listenPort": port, "storePathRootDir": folder / "store", "namesrvAddr": name_server}
    lines = {**SETTINGS, **APACHE_SETTINGS, **where}.items()
    broker_file, name_server_file = folder / "broker.conf", folder / "namesrv.conf"
    broker_file.write_text("".join(f"{name}={value}\n" for name, value in lines))
    name_server_file.write_text(f"listenPort={name_server_port}\nbindAddress=127.0.0.1\n")
    with Admin(folder, name_server, (name_server_file, broker_file)) as admin:
        yield admin, name_server, port


def day_at_apache(folder: Path) -> Day:
    prepared(folder)
    with admin_at_apache(folder) as (admin, name_server, port):
        return _lived(Day(admin, folder, name_server, port), is_apache=True)


def day_here(folder: Path) -> Day:
    prepared(folder)
    with (
        AerobeeServer(folder / "server", SETTINGS) as server,
        Admin(folder, server.name_server) as admin,
    ):
        return _lived(Day(admin, folder, server.name_server, server.broker_port), is_apache=False)


def _lived(day: Day, *, is_apache: bool) -> Day:
    day.live(is_apache=is_apache)
    return day
