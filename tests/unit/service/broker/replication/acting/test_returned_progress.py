from aerobee.model.topic import DataVersion
from aerobee.service.broker.config import SETTINGS, BrokerConfig, BrokerIdentity
from aerobee.service.broker.replication.acting.returned_progress import take_progress
from aerobee.service.broker.replication.metadata.metadata_round import Progress
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsetsSnapshot
from aerobee.service.broker.state.delay_offsets import CopiedDelayOffsets
from aerobee.service.broker.state.tables import Ground, open_tables
from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.storage.timer.timer_checkpoint import TimerCheck, check_path, decode_check
from tests.store_kit import ROOT, StoreKit, draft

VERSION = DataVersion()


class Rig:
    """A store with five messages in Orders and in level 2."""

    def __init__(self) -> None:
        self.kit = StoreKit()
        for topic, queue_id in ((b"Orders", 0), (b"SCHEDULE_TOPIC_XXXX", 1)):
            for _ in range(5):
                self.kit.store.append(draft(topic, queue_id), 0)
        self.kit.settle()
        self.ground = Ground(self.kit.store, self.kit.disk, self.kit.worker)
        changes = ChangesFile(self.kit.disk, f"{ROOT}/config/broker.properties", {})
        live = LiveConfig(BrokerConfig(), SETTINGS, changes, self.kit.worker, {})
        self.tables = open_tables(BrokerIdentity(), live, self.ground, self.kit.clock.now())

    def take(self, offset: int = 0, level_2: int = 0, read_ms: int | None = None) -> None:
        timer = None if read_ms is None else TimerCheck(read_ms, 9, 9, 9)
        progress = Progress(
            ConsumerOffsetsSnapshot(VERSION, {("Orders", "g"): {0: offset}}, {}),
            CopiedDelayOffsets(VERSION, {2: level_2}),
            timer,
        )
        take_progress(progress, self.tables, self.ground, self.kit.clock.now())

    def offset(self) -> int:
        return self.tables.offsets.find("g", "Orders", 0)

    def read_ms(self) -> int:
        found = decode_check(self.kit.disk.read(check_path(self.kit.store.root)))
        assert found is not None
        assert found[1] is None, "wheel and log are not those of this checkpoint"
        return found[0].read_ms


def test_the_higher_offset_of_both_counts_and_none_beyond_the_log() -> None:
    rig = Rig()
    rig.take(offset=3, level_2=2)
    assert (rig.offset(), rig.tables.delay_offsets.saved) == (3, {2: 2})
    rig.take(offset=1, level_2=1)
    assert (rig.offset(), rig.tables.delay_offsets.saved) == (3, {2: 2})
    rig.take(offset=99, level_2=99)
    assert (rig.offset(), rig.tables.delay_offsets.saved) == (5, {2: 5})


def test_the_later_checkpoint_of_the_timer_counts() -> None:
    rig = Rig()
    for read_ms, expected in ((5_000, 5_000), (4_000, 5_000), (6_000, 6_000)):
        rig.take(read_ms=read_ms)
        assert rig.read_ms() == expected
