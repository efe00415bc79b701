"""The commands of docs/migration.md move a broker name from an Apache master to Aerobee and back,
under load of Java's producer and consumer: nothing acknowledged is lost, everything is consumed.
"""

import re
import shlex
from pathlib import Path

import pytest

from tests.integration.test_migration_page import COMMANDS, GAP
from tests.interop.apache import Jars
from tests.interop.features.ground import Ground
from tests.interop.features.program import Event, Program, ProgramError, bodies
from tests.interop.features.waiting import TooLong, until
from tests.interop.replication.brokers import AEROBEE, APACHE, MASTER, Broker, Pair
from tests.interop.replication.conftest import StartProgram
from tests.interop.replication.log_bytes import wait_until_equal
from tests.interop.replication.traffic import meanwhile
from tests.process_kit import Started

# Apache's slave copies topics a minute after its start.
pytestmark = [pytest.mark.java, pytest.mark.timeout(900)]

TOPIC, GROUP = "orders", "movers"
MORE = 100
SECONDS_MAX = 150
MOVE_SECONDS_MAX = 400
GAP_SECONDS_MAX = 60.0


class Load:
    """A producer that goes on whatever it is told, and a consumer that takes everything."""

    def __init__(self, producer: Program, consumer: Program) -> None:
        self._producer = producer
        self.consumer = consumer
        self._sends = 0
        self.acknowledged: list[str] = []
        consumer.subscribe(GROUP, GROUP, TOPIC)

    def send(self) -> bool:
        body = f"message {self._sends}"
        self._sends += 1
        try:
            self._producer.send("sync", TOPIC, body)
        except ProgramError:
            assert self._producer.is_running
        else:
            self.acknowledged.append(body)
        return True

    def consume(self) -> bool:
        """Read what it says: it would stand still otherwise."""
        self.consumer.linger(0.1)
        return True

    def wait_for_more(self) -> None:
        wanted = len(self.acknowledged) + MORE
        until(lambda: len(self.acknowledged) >= wanted, SECONDS_MAX, f"{MORE} more are sent")


class Move:
    """The page's commands, with the addresses and folders of this test."""

    def __init__(self, pair: Pair, load: Load) -> None:
        self._pair = pair
        self._load = load
        self.new = pair.broker(AEROBEE, "new", {})
        """The new broker, which the command starts in its own process."""
        self.gaps: list[float] = []
        self._serving: Started | None = None

    def run(self, line: str) -> None:
        words = self._words(line)
        if "--to" in words:
            self._hand_back(words)
        elif "--follow" in words:
            with Started(self._pair.folder, *words) as following:
                following.until("without --follow")
                assert following.stop()[0] == 0
        elif words[0] == "migrate" and "--dry-run" not in words:
            self._take_over(words)
        else:
            with Started(self._pair.folder, *words) as asking:
                status, out, error = asking.end()
            assert status == 0, f"{line}\n{out}{error}"

    def end(self) -> None:
        if self._serving is not None:
            self._serving.__exit__()

    def _words(self, line: str) -> list[str]:
        here = {
            "10.0.0.9:9876": self._pair.name_server,
            "10.0.0.1:10911": self._pair.slave.address,
            "/data/new": str(self.new.store),
            "10911": str(self.new.broker_port),
        }
        words = [here.get(word, word) for word in shlex.split(line)][1:]
        return words if "-n" in words else [*words, "-n", self._pair.name_server]

    def _take_over(self, words: list[str]) -> None:
        master = self._pair.master
        stop = ("--stop-command", f"kill {master.pid}")
        self._serving = Started(self._pair.folder, *words, *stop)
        self._note_gap(self._serving.until("next time"))
        master.stop()

    def _hand_back(self, words: list[str]) -> None:
        """The command that restarts the slave asks this test to do so."""
        slave, folder = self._pair.slave, self._pair.folder
        asked, done = folder / "asked", folder / "done"
        slave.start()
        wait = f"touch {asked}; until test -e {done}; do sleep 0.1; done"
        with Started(folder, *words, "--restart-command", wait) as handing:
            try:
                until(lambda: asked.exists() or not handing.is_running, MOVE_SECONDS_MAX, "it asks")
            except TooLong:
                handing.process.terminate()
            assert asked.exists(), f"it has not asked for a restart, and said: {handing.end()}"
            slave.stop()
            slave.starts_as(MASTER)
            slave.start()
            done.touch()
            status, out, error = handing.end()
        assert status == 0, error
        self._note_gap(out)

    def _note_gap(self, told: str) -> None:
        assert re.search(GAP, told, re.MULTILINE), told
        self.gaps.append(float(re.findall(r"^gap: ([\d.]+) s", told, re.MULTILINE)[0]))
        self._load.wait_for_more()


def test_a_broker_moves_from_apache_to_aerobee_and_back_under_load_of_java_clients(
    tmp_path: Path, jars: Jars, start_program: StartProgram, capsys: pytest.CaptureFixture[str]
) -> None:
    with Pair((APACHE, APACHE, APACHE), tmp_path, jars) as pair:
        pair.master.start()
        ground = Ground(pair.master)
        ground.create_topic(TOPIC)
        ground.create_group(GROUP, retries=16)
        load = Load(start_program(pair.name_server), start_program(pair.name_server))
        move = Move(pair, load)
        try:
            with meanwhile(load.send), meanwhile(load.consume):
                load.wait_for_more()
                for line in COMMANDS:
                    move.run(line)
            check(load, pair.slave, move.new)
        finally:
            move.end()
    to_aerobee, to_apache = move.gaps
    assert max(move.gaps) < GAP_SECONDS_MAX
    with capsys.disabled():
        print(
            f"\ngaps: to Aerobee {to_aerobee} s, back to Apache {to_apache} s; "
            f"{len(load.acknowledged)} messages acknowledged"
        )


def check(load: Load, master: Broker, slave: Broker) -> None:
    """At the end, with Apache's master and Aerobee's slave."""
    stored = {message.body.decode() for message in Ground(master).stored(TOPIC)}
    assert set(load.acknowledged) <= stored
    load.consumer.receive(GROUP, lambda events: _are(events, load.acknowledged), SECONDS_MAX)
    wait_until_equal(master, slave)


def _are(events: list[Event], wanted: list[str]) -> bool:
    return set(bodies(events)) >= set(wanted)
