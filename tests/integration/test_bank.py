"""The bank of docs/zero-loss.md on a Raft group: everything is killed in turn and at once, and the
money of desk and ledger is counted to the cent.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

import pytest

from examples.bank import CARDS, TRANSFERS, DeskBooks, LedgerBooks, count
from tests.interop.features.waiting import until
from tests.interop.replication.brokers import steady_port
from tests.process_kit import SECONDS_MAX
from tests.score import show

ROOT = Path(__file__).resolve().parents[2]
AEROBEE = (sys.executable, "-m", "aerobee.cli.main")
MEMBERS = ("n0", "n1", "n2")
KINDS = ("transfers", "cards")
SETTINGS = {
    "brokerName": "broker-a",
    "bindAddress": "127.0.0.1",
    "enableDLegerCommitLog": "true",
    "mappedFileSizeCommitLog": 4 << 20,
    # A desk that was killed is asked about its transfers soon.
    "transactionTimeOut": 1_000,
    "transactionCheckInterval": 1_000,
}


class Part:
    """A process of the bank that is killed and started again."""

    def __init__(self, folder: Path, name: str, command: tuple[str, ...], name_server: str) -> None:
        self._said = folder / f"{name}.log"
        self._command = command
        self._environment = {**os.environ, "HOME": str(folder), "AEROBEE_NAMESRV": name_server}
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self._said.open("ab") as said:
            self._process = subprocess.Popen(
                self._command, cwd=ROOT, env=self._environment, stdout=said, stderr=said
            )

    def end(self, number: int = signal.SIGKILL) -> int:
        assert self._process is not None
        self._process.send_signal(number)
        return self._process.wait(SECONDS_MAX)

    def said(self) -> str:
        return self._said.read_text(errors="replace")


class Bank:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        port = steady_port()
        self.name_server = f"127.0.0.1:{port}"
        nameserver = (*AEROBEE, "nameserver", "start", "--port", str(port))
        self.parts = {"nameserver": self._part("nameserver", nameserver)}
        ports = {member: steady_port() for member in MEMBERS}
        peers = ";".join(f"{member}-127.0.0.1:{ports[member] + 1}" for member in MEMBERS)
        for member in MEMBERS:
            config = folder / f"{member}.conf"
            where = {
                "dLegerPeers": peers,
                "dLegerSelfId": member,
                "listenPort": ports[member],
                "namesrvAddr": self.name_server,
                "storePathRootDir": folder / f"store-{member}",
            }
            lines = {**SETTINGS, **where}.items()
            config.write_text("".join(f"{name}={value}\n" for name, value in lines))
            self.parts[member] = self._part(
                member, (*AEROBEE, "broker", "start", "-c", str(config))
            )
        for role in ("desk", "ledger"):
            command = (sys.executable, "-m", "examples.bank", role, str(folder))
            self.parts[role] = self._part(role, command)

    def __enter__(self) -> Self:
        for name in ("nameserver", *MEMBERS):
            self.parts[name].start()
        for topic in (TRANSFERS, CARDS):
            until(lambda topic=topic: self._makes(topic), SECONDS_MAX, f"{topic} is made")  # type: ignore[misc]
        for name in ("desk", "ledger"):
            self.parts[name].start()
        return self

    def __exit__(self, *_: object) -> None:
        for part in self.parts.values():
            part.end()

    def until_more_is_booked(self) -> None:
        """Until payments of both kinds that are made from now on have come through."""
        sent, booked = DeskBooks(self.folder), LedgerBooks(self.folder)
        wanted = {kind: sent.cents(kind) + 1 for kind in KINDS}
        until(
            lambda: all(booked.cents(kind) >= wanted[kind] for kind in KINDS),
            SECONDS_MAX,
            "more is booked",
        )

    def until_all_is_booked(self) -> None:
        sent, booked = DeskBooks(self.folder), LedgerBooks(self.folder)
        until(
            lambda: all(booked.cents(kind) >= sent.cents(kind) for kind in KINDS),
            SECONDS_MAX,
            "all is booked",
        )

    def _part(self, name: str, command: tuple[str, ...]) -> Part:
        return Part(self.folder, name, command, self.name_server)

    def _makes(self, topic: str) -> bool:
        command = (*AEROBEE, "topic", "create", topic, "-n", self.name_server)
        return subprocess.run(command, capture_output=True, timeout=SECONDS_MAX).returncode == 0


@pytest.mark.timeout(600)
def test_whatever_is_killed_no_cent_is_lost_and_none_is_booked_twice(tmp_path: Path) -> None:
    with Bank(tmp_path) as bank:
        for part in bank.parts.values():
            bank.until_more_is_booked()
            part.end()
            part.start()
        bank.until_more_is_booked()
        for part in bank.parts.values():
            part.end()
        for part in bank.parts.values():
            part.start()
        bank.until_more_is_booked()
        assert bank.parts["desk"].end(signal.SIGTERM) == 0, bank.parts["desk"].said()
        bank.until_all_is_booked()
        assert bank.parts["ledger"].end(signal.SIGTERM) == 0, bank.parts["ledger"].said()
        assert count(tmp_path)
    sent = DeskBooks(tmp_path)
    show(
        f"bank: {sent.cents('transfers')} cents by transfer, {sent.cents('cards')} by card, 0 lost"
    )
