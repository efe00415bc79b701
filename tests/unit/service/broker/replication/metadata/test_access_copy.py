import zlib

import pytest

from aerobee.ports.service import Dial, Effects
from aerobee.protocol.bodies.access import UserChange
from aerobee.protocol.headers.replicating import NO_CRC, CopiedStateHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.access.access_store import AccessStore
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.table_text import encode_table
from aerobee.service.broker.replication.metadata.access_copy import LOOK_MS, RETRY_MS, AccessCopy
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.metadata.config_file import ConfigFile
from tests.access_kit import ACCESS

KEY = b"t" * 32
TABLE = AccessTable().with_user(UserChange("alice", "secret"), None)


class CopyRig:
    def __init__(self) -> None:
        self.clock = SimClock()
        self.worker = SimDiskWorker()
        self.store = AccessStore(ACCESS, ConfigFile(SimDisk(), "access.json"), self.worker)
        self.outbox: Effects = []
        self.master = "10.0.0.1:10911"
        self.copy = AccessCopy(self.store, KEY, lambda: self.master, self.outbox)

    def asked(self, ms: int = 0) -> list[Dial]:
        """The questions after so much time."""
        self.copy.on_tick(self.clock.advance(ms))
        found, self.outbox[:] = [one for one in self.outbox if isinstance(one, Dial)], []
        return found

    def answer(self, dial: Dial, content: bytes | None, *, code: int = 0) -> None:
        reply = None
        if content is not None:
            header = write_header(CopiedStateHeader(len(content), zlib.crc32(content)))
            reply = RemotingCommand(code, ext_fields=header, body=content)
        self.copy.on_answer(dial.ticket, reply, self.clock.now())
        self.worker.run_all()
        self.worker.collect()

    def is_known(self) -> bool:
        return self.store.accounts.find("alice") is not None


def test_the_masters_table_is_taken_and_asked_for_by_its_checksum_then() -> None:
    rig = CopyRig()
    (dial,) = rig.asked()
    assert dial.address == rig.master
    assert dial.command.ext_fields["knownCrc"] == str(NO_CRC)
    content = encode_table(TABLE, KEY)
    rig.answer(dial, content)
    assert rig.is_known()
    assert rig.asked(LOOK_MS - 1) == []
    (dial,) = rig.asked(1)
    assert dial.command.ext_fields["knownCrc"] == str(zlib.crc32(content))


@pytest.mark.parametrize("content", [None, b"", b"nonsense"])
def test_a_master_that_does_not_answer_or_refuses_is_asked_again_half_a_second_later(
    content: bytes | None,
) -> None:
    rig = CopyRig()
    (dial,) = rig.asked()
    rig.answer(dial, content, code=0 if content else 16)
    assert rig.asked(499) == []
    assert len(rig.asked(1)) == 1


def test_a_table_under_another_seal_changes_nothing() -> None:
    rig = CopyRig()
    for content in (encode_table(TABLE, b"j" * 32), b"nonsense"):
        (dial,) = rig.asked(RETRY_MS)
        rig.answer(dial, content)
        assert not rig.is_known()
        assert rig.store.accounts.find("root") is not None


def test_another_master_is_asked_anew_and_the_first_ones_answer_is_dropped() -> None:
    rig = CopyRig()
    (first,) = rig.asked()
    rig.master = "10.0.0.3:10911"
    (second,) = rig.asked()
    rig.answer(first, encode_table(TABLE, KEY))
    assert not rig.is_known()
    rig.answer(second, encode_table(TABLE, KEY))
    assert rig.is_known()


def test_without_a_master_or_after_the_stop_nobody_is_asked() -> None:
    rig = CopyRig()
    rig.master = ""
    assert rig.asked(RETRY_MS) == []
    rig.master = "10.0.0.1:10911"
    assert len(rig.asked()) == 1
    rig.copy.stop()
    assert rig.asked(RETRY_MS) == []
