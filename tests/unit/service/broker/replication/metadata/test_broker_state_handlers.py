import zlib

import pytest

from aerobee.model.topic import DataVersion
from aerobee.ports.service import ChannelId, Effects, Reply
from aerobee.protocol.bodies.broker_state import BrokerVersions, decode_broker_versions
from aerobee.protocol.headers.replicating import CopiedStateHeader
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.replication.metadata.broker_state_handlers import (
    READS_MAX,
    BrokerStateHandlers,
)
from aerobee.service.broker.request_table import request_table
from aerobee.service.request import Request, answer_with
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker

COPY = 28007
ROUNDS = "stagedRounds.json"
VERSIONS = BrokerVersions(DataVersion(0, 7, 100), DataVersion(0, 3, 200), 1_700_000_000_000)


class Rig:
    def __init__(self, content: bytes | None = None, bytes_max: int = 100) -> None:
        self.disk = SimDisk()
        if content is not None:
            self.disk.replace(f"store/config/{ROUNDS}", content)
        self.worker = SimDiskWorker()
        handlers = BrokerStateHandlers(
            self.disk,
            self.worker,
            "store",
            lambda: VERSIONS,
            bytes_max=bytes_max,
            piece_bytes=10,
        )
        self._table = request_table(handlers.rows())
        self.outbox: Effects = []

    def tell(self, **fields: object) -> None:
        said = {name: str(value) for name, value in fields.items()}
        command = RemotingCommand(COPY, opaque=7, ext_fields=said)
        request = Request(ChannelId(1), command, SimClock().now(), self.outbox)
        answer_with(self._table[COPY].serve, request)

    def answers(self) -> list[RemotingCommand]:
        self.worker.run_all()
        self.worker.collect()
        found = [effect.command for effect in self.outbox if isinstance(effect, Reply)]
        self.outbox.clear()
        return found

    def ask(self, **fields: object) -> RemotingCommand:
        self.tell(**fields)
        (answer,) = self.answers()
        return answer


def header_of(answer: RemotingCommand) -> CopiedStateHeader:
    assert answer.code == 0, answer.remark
    return read_header(CopiedStateHeader, answer.ext_fields)


def test_versions_are_told_without_looking_at_the_disk() -> None:
    rig = Rig()
    rig.tell()
    assert rig.worker.pending() == 0
    (answer,) = rig.answers()
    assert decode_broker_versions(bytes(answer.body)) == VERSIONS


def test_a_file_is_told_as_it_is_on_the_disk_piece_by_piece() -> None:
    content = b'{"writes":{"a":1234}}'
    rig = Rig(content)
    pieces = []
    for position in (0, 10, 20, 30):
        answer = rig.ask(name=ROUNDS, position=position)
        assert header_of(answer) == CopiedStateHeader(len(content), zlib.crc32(content))
        pieces.append(bytes(answer.body))
    assert b"".join(pieces) == content
    assert [len(piece) for piece in pieces] == [10, 10, 1, 0]


def test_a_file_that_is_known_is_not_told_again() -> None:
    content = b'{"writes":{}}'
    answer = Rig(content).ask(name=ROUNDS, knownCrc=zlib.crc32(content))
    assert header_of(answer) == CopiedStateHeader(len(content), zlib.crc32(content))
    assert bytes(answer.body) == b""


@pytest.mark.parametrize("name", [ROUNDS, "deleted_topics"])
def test_a_file_that_is_not_there_is_empty(name: str) -> None:
    answer = Rig().ask(name=name)
    assert (header_of(answer), bytes(answer.body)) == (CopiedStateHeader(0, 0), b"")


def test_deleted_topics_are_told() -> None:
    rig = Rig()
    rig.disk.replace("store/deleted_topics", b"81 Gone\n")
    assert bytes(rig.ask(name="deleted_topics").body) == b"81 Gone\n"


@pytest.mark.parametrize("name", ["topics.json", "../lock", "broker.properties", "x" * 1000])
def test_no_other_file_is_told(name: str) -> None:
    rig = Rig()
    rig.disk.replace("store/config/topics.json", b"{}")
    answer = rig.ask(name=name)
    assert answer.code == 29
    assert "stagedRounds.json" in answer.remark
    assert len(answer.remark) < 400


def test_a_position_below_zero_is_refused() -> None:
    assert Rig(b"{}").ask(name=ROUNDS, position=-1).code == 29


def test_a_file_that_is_too_large_is_refused_and_says_so() -> None:
    answer = Rig(b"x" * 101).ask(name=ROUNDS)
    assert (answer.code, bytes(answer.body)) == (1, b"")
    assert "101 bytes, at most 100" in answer.remark
    assert Rig(b"x" * 100).ask(name=ROUNDS).code == 0


def test_a_crowd_of_requests_does_not_pile_up() -> None:
    rig = Rig(b"{}")
    for _ in range(READS_MAX + 3):
        rig.tell(name=ROUNDS)
    codes = [answer.code for answer in rig.answers()]
    assert sorted(codes) == [0] * READS_MAX + [2] * 3
    assert rig.ask(name=ROUNDS).code == 0


def test_a_disk_that_fails_is_told() -> None:
    rig = Rig(b"{}")
    rig.tell(name=ROUNDS)
    rig.disk.faults.fail_call(1)
    (answer,) = rig.answers()
    assert (answer.code, "cannot be read" in answer.remark) == (1, True)
    assert rig.ask(name=ROUNDS).code == 0
