"""A writer is killed with SIGKILL, again and again, on one growing store: nothing is lost.

Every cycle: a writer opens the store and appends; after a number of acknowledgements, and a moment
more, it is killed; the store is opened as the kill left it and read. Now and then a copy is opened
instead: the next writer then finds what the kill left, and the copy shows whether queues and index
are, byte for byte, those of a rebuild.

KILL_CYCLES=1000   cycles of each mode at night
"""

import os
import random
import shutil
import time
from pathlib import Path

import pytest

from aerobee.app.chaos.log_check import Found, Queue, Sent, SentOutcome, check, explain
from aerobee.protocol.message.stored_message import decode_record
from aerobee.storage.config import FlushMode
from aerobee.storage.store import Store
from aerobee.system.disk import MappedDisk
from aerobee.system.disk_worker import ThreadDiskWorker
from tests.crash.writer import QUEUES, Witness, config, found_in
from tests.score import show

CYCLES = 15
NIGHT_CYCLES = int(os.environ.get("KILL_CYCLES", "1000"))

_ACKS_MAX = 250
_LINGER_S = 0.02
_COPY_EVERY = 10  # cycles
_NIGHT_COPY_EVERY = 50  # there is far more to copy
_DERIVED = ("consumequeue", "batchconsumequeue", "index")
_KEYS_A_CYCLE = 20


class Cycles:
    """The life of one store, from kill to kill."""

    def __init__(self, folder: Path, mode: FlushMode) -> None:
        self._root = folder / "store"
        self._folder = folder
        self._mode = mode
        self._generator = random.Random(f"{mode} kills")
        self._settled: list[Sent] = []  # read back after a kill: from then on it must stay
        self._ends: dict[Queue, int] = {}
        self.count = 0
        self.acknowledged = 0
        self.lost = 0
        self.opened_s_max = 0.0

    def run(self, is_copied: bool, is_read_whole: bool) -> None:
        """One cycle. A copy is always read whole."""
        self.count += 1
        with Witness(self._root, self._mode, self.count) as writer:
            writer.listen_until(self._generator.randint(1, _ACKS_MAX))
            writer.listen(self._generator.uniform(0, _LINGER_S))
            writer.kill()
        assert writer.acks, "every cycle gets on"
        self.acknowledged += len(writer.acks)
        if is_copied:
            self._check_copy(writer.history())
        else:
            self._check(self._root, writer.history(), is_read_whole)

    def _check(self, root: Path, sent: list[Sent], is_read_whole: bool) -> None:
        """Open what the kill left; everything acknowledged is there, and nothing else."""
        worker = ThreadDiskWorker()
        try:
            began = time.perf_counter()
            store = Store.open(MappedDisk(), str(root), config(self._mode), worker)
            self.opened_s_max = max(self.opened_s_max, time.perf_counter() - began)
            found = found_in(store, {} if is_read_whole else self._ends)
            self._judge([*self._settled, *sent] if is_read_whole else sent, found)
            self._check_keys(store, sent)
            store.close()
        finally:
            worker.close()
        self._settle(sent, found)

    def _judge(self, sent: list[Sent], found: dict[Queue, list[Found]]) -> None:
        anomalies = check(sent, found)
        for queue, listed in found.items():
            if listed and queue in self._ends:
                assert listed[0].offset in (0, self._ends[queue])
        self.lost += sum(anomaly.kind == "lost" for anomaly in anomalies)
        assert not anomalies, f"after kill {self.count}:\n{explain(anomalies)}"

    def _check_keys(self, store: Store, sent: list[Sent]) -> None:
        """Some of what was acknowledged is found by its name, once."""
        answered = [one for one in sent if one.outcome is SentOutcome.ACKNOWLEDGED]
        for one in self._generator.sample(answered, min(_KEYS_A_CYCLE, len(answered))):
            topic, _ = one.queue
            records = store.records_by_key(topic, one.name, 0, 1 << 62, 10)
            names = [decode_record(bytes(record)).properties["UNIQ_KEY"] for record in records]
            assert names.count(one.name.decode()) == 1, one.name

    def _settle(self, sent: list[Sent], found: dict[Queue, list[Found]]) -> None:
        offsets = {one.name: one.offset for listed in found.values() for one in listed}
        self._settled += [
            one._replace(
                outcome=SentOutcome.ACKNOWLEDGED,
                ended=max(one.began, one.ended),
                offset=offsets[one.name],
            )
            for one in sent
            if one.name in offsets
        ]
        for queue, listed in found.items():
            if listed:
                self._ends[queue] = listed[-1].offset + 1

    def _check_copy(self, sent: list[Sent]) -> None:
        """Of two copies one loses everything derived: they must end up the same."""
        kept, bare = self._folder / "kept", self._folder / "bare"
        for copy in (kept, bare):
            shutil.copytree(self._root, copy)
        for name in _DERIVED:
            shutil.rmtree(bare / name, ignore_errors=True)
        (bare / "checkpoint").unlink()
        self._check(kept, sent, is_read_whole=True)
        worker = ThreadDiskWorker()
        Store.open(MappedDisk(), str(bare), config(self._mode), worker).close()
        worker.close()
        expected, rebuilt = _derived_files(kept), _derived_files(bare)
        assert expected.keys() == rebuilt.keys()
        assert len([path for path in expected if path.startswith("consumequeue/")]) >= len(QUEUES)
        for path, content in expected.items():
            assert rebuilt[path] == content, f"{path} after kill {self.count}"
        for copy in (kept, bare):
            shutil.rmtree(copy)

    def summary(self) -> str:
        return (
            f"kill -9, {self._mode.value}: {self.count:,} cycles, {self.acknowledged:,} "
            f"acknowledged, {self.lost:,} lost; opened again in {self.opened_s_max:.2f} s at most"
        )


def _derived_files(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for name in _DERIVED
        for path in (root / name).rglob("*")
        if path.is_file()
    }


def _kill_again_and_again(folder: Path, mode: FlushMode, count: int, copy_every: int) -> None:
    cycles = Cycles(folder, mode)
    try:
        for number in range(1, count + 1):
            cycles.run(
                is_copied=number % copy_every == 0 or number == count,
                is_read_whole=number % copy_every == copy_every // 2,
            )
    finally:
        show(cycles.summary())
    shutil.rmtree(folder / "store")


@pytest.mark.parametrize("mode", FlushMode, ids=lambda mode: mode.name.lower())
def test_a_killed_writer_loses_nothing_it_acknowledged(tmp_path: Path, mode: FlushMode) -> None:
    _kill_again_and_again(tmp_path, mode, CYCLES, _COPY_EVERY)


@pytest.mark.night
@pytest.mark.timeout(14400)
@pytest.mark.parametrize("mode", FlushMode, ids=lambda mode: mode.name.lower())
def test_a_writer_killed_all_night_loses_nothing(tmp_path: Path, mode: FlushMode) -> None:
    _kill_again_and_again(tmp_path, mode, NIGHT_CYCLES, _NIGHT_COPY_EVERY)
