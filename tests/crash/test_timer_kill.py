"""A broker with messages for a time is killed with SIGKILL, again and again: while they wait, while
they are delivered, while it starts.

Every acknowledged message is there in the end, none was stored in its queue before its time, and
one is there twice only if a kill lies between its copies.

KILL_CYCLES=1000   cycles at night
"""

import bisect
import itertools
import os
import random
import time
from collections import defaultdict
from pathlib import Path

import pytest

from aerobee.model.message import StoredMessage
from aerobee.protocol.message.stored_message import decode_records
from tests.broker_kit import pull_fields
from tests.process_kit import SMALL_FILES, Started
from tests.wire_client import WireClient

CYCLES = 8
NIGHT_CYCLES = int(os.environ.get("KILL_CYCLES", "1000"))
SEND, PULL, MAX_OFFSET = 310, 11, 30
SENDS_MAX = 60
AHEAD_MS_MAX = 600


def sending(name: str, deliver_ms: int) -> dict[str, str]:
    properties = f"UNIQ_KEY\x01{name}\x02TIMER_DELIVER_MS\x01{deliver_ms}\x02"
    letters = {"a": "producers", "b": "Orders", "c": "TBW102", "d": "1", "e": "0", "f": "0"}
    return {**letters, "g": "0", "h": "0", "i": properties, "j": "0", "k": "false", "m": "false"}


class Cycles:
    """The life of one store, from kill to kill."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._generator = random.Random("timers that are killed")
        folder.joinpath("broker.conf").write_text(f"storePathRootDir={folder}/store\n{SMALL_FILES}")
        self.acknowledged: dict[str, int] = {}
        """By name: when it is to be delivered."""
        self.kills_ms: list[float] = []
        self._sent = 0

    def _start(self) -> Started:
        path = str(self._folder / "broker.conf")
        return Started(self._folder, "broker", "start", "-c", path, "--port", "0")

    def _send(self, client: WireClient) -> None:
        self._sent += 1
        name = f"m{self._sent}"
        deliver_ms = int(time.time() * 1000) + self._generator.randint(1, AHEAD_MS_MAX)
        answer = client.ask(SEND, sending(name, deliver_ms), b"body")
        assert answer.code == 0, answer.remark
        self.acknowledged[name] = deliver_ms

    def run(self) -> None:
        """One cycle: some are sent, some of them are awaited, the broker is killed."""
        draw = self._generator.randint
        with self._start() as broker, WireClient(broker.ports()["broker"]) as client:
            delivered = self._delivered(client)
            count = draw(1, SENDS_MAX)
            for _ in range(count):
                self._send(client)
            awaited = delivered + draw(0, count)
            while self._delivered(client) < awaited:
                pass
            broker.process.kill()
            broker.end()
        self.kills_ms.append(time.time() * 1000)

    def _delivered(self, client: WireClient) -> int:
        answer = client.ask(MAX_OFFSET, {"topic": "Orders", "queueId": "0"})
        return int(answer.ext_fields["offset"]) if answer.code == 0 else 0

    def found(self) -> list[StoredMessage]:
        """What is in the queue when everything is due, and the broker was stopped cleanly."""
        with self._start() as broker, WireClient(broker.ports()["broker"]) as client:
            self._send(client)
            last = f"m{self._sent}"
            found: list[StoredMessage] = []
            latest_ms = max(self.acknowledged.values()) + 1_000
            while time.time() * 1000 < latest_ms or not self._has(found, last):
                fields = pull_fields(suspendTimeoutMillis=0, queueOffset=len(found))
                answer = client.ask(PULL, fields)
                if answer.code == 0:
                    found += decode_records(bytes(answer.body))
            assert broker.stop()[0] == 0
        return found

    def _has(self, found: list[StoredMessage], name: str) -> bool:
        return any(one.unique_id == name for one in reversed(found))

    def check(self) -> None:
        copies: dict[str, list[StoredMessage]] = defaultdict(list)
        for one in self.found():
            copies[one.unique_id].append(one)
        assert self.acknowledged.keys() <= copies.keys(), "lost"
        for name, many in copies.items():
            deliver_ms = int(many[0].properties["TIMER_DELIVER_MS"])
            assert min(one.store_timestamp for one in many) >= deliver_ms, (name, "early")
            for one, other in itertools.pairwise(many):
                before = bisect.bisect(self.kills_ms, one.store_timestamp)
                after = bisect.bisect(self.kills_ms, other.store_timestamp)
                assert before < after, (name, "twice without a kill")


def kill(folder: Path, count: int) -> None:
    cycles = Cycles(folder)
    for _ in range(count):
        cycles.run()
    cycles.check()
    assert len(cycles.acknowledged) > count


def test_a_broker_killed_while_messages_wait_and_go_out_loses_none(tmp_path: Path) -> None:
    kill(tmp_path, CYCLES)


@pytest.mark.night
def test_a_broker_killed_all_night_delivers_every_message_in_time(tmp_path: Path) -> None:
    kill(tmp_path, NIGHT_CYCLES)
