from aerobee.errors import StoreBusy
from aerobee.model.histogram import Histogram
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.storage.config import StorageConfig
from tests.broker_kit import STORAGE, SYNC
from tests.pop_kit import INVISIBLE_MS, PopKit


class Rig:
    """A consumer with eight messages, whose first acknowledgement was learned from."""

    def __init__(self, storage: StorageConfig = STORAGE) -> None:
        self.kit = PopKit(storage=storage)
        self.kit.fill(9)
        self.got = self.kit.pop()
        assert self.kit.ack(self.got.pop(0)) == 0

    def read(self, *indexes: int, more: bytes = b"") -> None:
        """One read with acknowledgements of some."""
        frames = [
            b"".join(
                encode(
                    RemotingCommand(
                        200051, opaque=index, ext_fields=self.kit.ack_fields(self.got[index])
                    )
                )
            )
            for index in indexes
        ]
        self.kit.send_frames(b"".join(frames) + more)

    def heard(self) -> list[tuple[int, int]]:
        """Opaque and code of what was answered."""
        return [(answer.opaque, answer.code) for answer in self.kit.heard()]

    def bodies_back(self) -> list[bytes]:
        self.kit.run(INVISIBLE_MS + 2_000)
        return self.kit.bodies_popped()


def test_answers_go_out_with_the_read_as_one_piece() -> None:
    rig = Rig()
    rig.read(0, 1, 2)
    (piece,) = rig.kit.pieces()
    assert piece.count(b'"code":0') == 3
    assert rig.bodies_back() == [one.body for one in rig.got[3:]]


def test_with_synchronous_flush_they_wait_for_the_disk() -> None:
    rig = Rig(SYNC)
    rig.read(0, 1)
    assert rig.heard() == []
    rig.kit.finish()
    assert rig.heard() == [(0, 0), (1, 0)]


def test_what_the_store_does_not_take_is_told_and_comes_back() -> None:
    rig = Rig()
    rig.read(0)
    rig.heard()
    rig.kit.store.appender.refusal = StoreBusy("the disk is behind")
    rig.read(1, 2)
    rig.kit.store.appender.refusal = None
    answers = rig.kit.heard()
    assert [(answer.opaque, answer.code) for answer in answers] == [(1, 2), (2, 2)]
    assert "the disk is behind" in answers[0].remark
    assert rig.bodies_back() == [one.body for one in rig.got[1:]]


def test_with_a_disk_that_fails_nobody_is_told_that_it_is_done() -> None:
    rig = Rig(SYNC)
    rig.read(0)
    rig.kit.disk.faults.fail_sync()
    rig.kit.work()
    rig.kit.tick()
    assert [code for _, code in rig.heard()] == [1]


def test_what_came_before_a_frame_that_breaks_the_protocol_is_answered() -> None:
    rig = Rig()
    rig.read(0, 1, more=bytes(8))
    assert len(rig.kit.closed) == 1
    assert rig.heard() == [(0, 0), (1, 0)]


def test_what_was_answered_is_counted() -> None:
    rig = Rig()
    rig.read(0, 1, 2)
    (latency,) = [
        metric
        for metric in rig.kit.broker.watch.metrics(rig.kit.clock.now())
        if metric.name == "rocketmq_rpc_latency"
    ]
    counts = {
        sample.labels["request_code"]: sample.value.count
        for sample in latency.samples
        if isinstance(sample.value, Histogram)
    }
    assert counts["ack_message"] == 4
