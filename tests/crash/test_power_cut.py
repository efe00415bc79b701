"""The disk of a running writer is cut off, on real file systems: the promise of each flush mode.

Every cut: a writer opens the store and appends; at some moment it is stopped, the disk is cloned as
a power cut would leave it, and the clone is opened and read. The next writer goes on where the
stopped one was killed.

    SYNC    nothing acknowledged is lost, up to the last line that the writer got out
    ASYNC   what is lost is a tail of the log, and was acknowledged within the last second

POWER_CUTS=10   cuts for each file system and mode
"""

import os
import random
import shutil
from pathlib import Path

import pytest

from aerobee.app.chaos.log_check import Anomaly, Sent, SentOutcome, check, explain
from aerobee.errors import StorageError
from aerobee.storage.config import FlushMode
from aerobee.storage.defects import NO_DEFECTS, Defect, Defects
from aerobee.storage.recover.checkpoint import FILE_BYTES as CHECKPOINT_BYTES
from aerobee.storage.store import Store
from aerobee.system.disk import MappedDisk
from aerobee.system.disk_worker import ThreadDiskWorker
from tests.crash.writer import StateFile, Witness, config, found_in
from tests.power_cut import Rig, missing
from tests.score import show

pytestmark = [pytest.mark.root, pytest.mark.skipif(bool(missing()), reason=missing())]

CUTS = int(os.environ.get("POWER_CUTS", "10"))

_CUTS_A_STORE = 10  # then a new one, so that the disk does not fill
_CUTS_TO_CATCH = 100  # what is acknowledged a little too early is often lucky
_ACKS_MAX = 200
_LINGER_S = {FlushMode.SYNC: 0.3, FlushMode.ASYNC: 2.0}
# The store bounds the loss where it looks at the clock, once a step. What a busy machine puts
# between two steps of the writer comes on top.
_SLACK_MS = 500
_NS_PER_MS = 1_000_000


class Cuts:
    """The life of stores on one disk, from cut to cut."""

    def __init__(self, rig: Rig, mode: FlushMode, defects: Defects = NO_DEFECTS) -> None:
        self._rig = rig
        self._mode = mode
        self._defects = defects
        self._lag_ns = config(mode).flush_lag_ms_max * _NS_PER_MS
        self._generator = random.Random(f"{rig.file_system} {mode} cuts")
        self._sent: list[Sent] = []
        self._state_count = 0
        self.count = 0
        self.acknowledged = 0
        self.lost = 0
        self.lost_ms_max = 0
        self.anomalies: list[Anomaly] = []

    def run(self) -> None:
        """One cut, on a new store if it is time for one."""
        if self.count % _CUTS_A_STORE == 0:
            shutil.rmtree(self._rig.data / "store", ignore_errors=True)
            self._sent = []
            self._state_count = 0
        self.count += 1
        with Witness(self._rig.data / "store", self._mode, self.count, self._defects) as writer:
            writer.listen_until(self._generator.randint(1, _ACKS_MAX))
            writer.listen(self._generator.uniform(0, _LINGER_S[self._mode]))
            writer.stop()
            place = self._rig.cut()
            writer.kill()
        self.acknowledged += len(writer.acks)
        self._state_count = max(self._state_count, writer.state_count)
        self._check(place / "store", writer)
        self._rig.drop(place)

    def _check(self, root: Path, writer: Witness) -> None:
        self._check_small_files(root)
        history = writer.history()
        self._sent += history
        # Whatever an earlier writer left was made durable when this one opened the store.
        tail_from = None
        if self._mode is FlushMode.ASYNC:
            newest = writer.acks[-1].ended_ns
            tail_from = newest - self._lag_ns - _SLACK_MS * _NS_PER_MS
            tail_from = max(tail_from, history[0].began)
        worker = ThreadDiskWorker()
        try:
            store = Store.open(MappedDisk(), str(root), config(self._mode), worker)
            found = found_in(store, {})
            store.close()
        except StorageError as error:
            self.anomalies.append(Anomaly("refused", b"", str(error)))
            return
        finally:
            worker.close()
        self.anomalies += check(self._sent, found, tail_from)
        there = {one.name for listed in found.values() for one in listed}
        self._count_lost([one for one in history if one.name not in there], writer)

    def _count_lost(self, absent: list[Sent], writer: Witness) -> None:
        lost = [one.ended for one in absent if one.outcome is SentOutcome.ACKNOWLEDGED]
        self.lost += len(lost)
        if lost:
            lost_ms = (writer.acks[-1].ended_ns - min(lost)) // _NS_PER_MS
            self.lost_ms_max = max(self.lost_ms_max, lost_ms)

    def _check_small_files(self, root: Path) -> None:
        """Old or new, never empty or half. The durable mark is checked by whoever opens it."""
        state = StateFile(MappedDisk(), str(root))
        assert not state.fault
        assert state.count >= self._state_count
        assert (root / "abort").read_bytes() == b"aerobee"
        assert (root / "checkpoint").stat().st_size == CHECKPOINT_BYTES

    def summary(self) -> str:
        text = (
            f"power cuts, {self._rig.file_system}, {self._mode.value}: {self.count:,} cuts, "
            f"{self.acknowledged:,} acknowledged, {self.lost:,} lost"
        )
        if self.lost:
            text += f", the oldest {self.lost_ms_max} ms before the last acknowledgement"
        return text


@pytest.mark.timeout(14400)
@pytest.mark.parametrize("mode", FlushMode, ids=lambda mode: mode.name.lower())
@pytest.mark.parametrize("file_system", ["ext4", "xfs"])
def test_a_power_cut_takes_no_more_than_was_said(file_system: str, mode: FlushMode) -> None:
    with Rig(file_system) as rig:
        cuts = Cuts(rig, mode)
        try:
            for _ in range(CUTS):
                cuts.run()
                assert not cuts.anomalies, f"after cut {cuts.count}:\n{explain(cuts.anomalies)}"
        finally:
            show(cuts.summary())
    if mode is FlushMode.SYNC:
        assert cuts.lost == 0
    else:
        assert cuts.lost > 0, "a cut that never takes anything is none"


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("defect", [Defect.SKIP_SYNC, Defect.ACKNOWLEDGE_BEFORE_SYNC])
@pytest.mark.parametrize("file_system", ["ext4", "xfs"])
def test_a_power_cut_shows_who_acknowledges_too_early(file_system: str, defect: Defect) -> None:
    with Rig(file_system) as rig:
        cuts = Cuts(rig, FlushMode.SYNC, frozenset({defect}))
        while not cuts.anomalies and cuts.count < _CUTS_TO_CATCH:
            cuts.run()
    assert cuts.anomalies
    kinds = ", ".join(sorted({anomaly.kind for anomaly in cuts.anomalies}))
    show(f"{defect.name} on {file_system}: caught by power cut {cuts.count} ({kinds})")
