"""Failures of cold reads; pulls of old messages are in `pull/test_pull_handlers.py`."""

from aerobee.errors import CorruptRecord
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Effects, Reply
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.log_access.cold_reads import COLD_READS_MAX, ColdReads
from aerobee.service.request import Answer, Request
from aerobee.storage.read.queue_read import QueueRead
from tests.store_kit import StoreKit


class Rig:
    def __init__(self) -> None:
        self.kit = StoreKit()
        self.cold = ColdReads(self.kit.store, self.kit.worker)
        self.outbox: Effects = []

    def ask(self) -> Answer | None:
        request = Request(ChannelId(1), RemotingCommand(11), Now(0, 0), self.outbox)
        return self.cold.answer(request, QueueRead(0, 0, 0, 0), lambda: Answer(remark="warm"))

    def said(self) -> list[tuple[int, str]]:
        replies = [e.command for e in self.outbox if isinstance(e, Reply)]
        return [(reply.code, reply.remark) for reply in replies]


def test_an_answer_comes_after_the_disk_was_asked() -> None:
    rig = Rig()
    assert rig.ask() is None
    assert rig.said() == []
    rig.kit.worker.run_all()
    rig.kit.worker.collect()
    assert rig.said() == [(0, "warm")]


def test_as_many_as_may_be_wait_and_no_more() -> None:
    rig = Rig()
    for _ in range(COLD_READS_MAX):
        assert rig.ask() is None
    refused = rig.ask()
    assert refused is not None
    assert (refused.code, rig.cold.count) == (2, COLD_READS_MAX)
    rig.kit.worker.run_all()
    rig.kit.worker.collect()
    assert rig.cold.count == 0
    assert rig.ask() is None


def test_damage_and_other_trouble_are_told_to_who_asked() -> None:
    rig = Rig()
    request = Request(ChannelId(1), RemotingCommand(11), Now(0, 0), rig.outbox)
    damage = CorruptRecord("odd", path="x", position=1, log_offset=2)
    for error in (damage, OSError("no disk")):
        rig.cold.ended(request, Answer, error)
    assert rig.said() == [(1, str(damage)), (1, "the read failed: no disk")]
