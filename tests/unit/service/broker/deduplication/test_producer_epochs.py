import pytest

from aerobee.errors import CorruptFile
from aerobee.ports.clock import Now
from aerobee.service.broker.deduplication.known_producers import KnownProducers, Limits
from aerobee.service.broker.deduplication.producer_epochs import EpochRound, ProducerEpochs
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.metadata.config_file import ConfigFile

PATH = "store/config/producerEpochs.json"


class Rig:
    def __init__(self, disk: SimDisk | None = None, limits: Limits | None = None) -> None:
        self.disk = disk or SimDisk()
        self.worker = SimDiskWorker()
        self.known = KnownProducers(limits)
        self.epochs = ProducerEpochs(ConfigFile(self.disk, PATH), self.worker, self.known)
        self.epochs.restore(50)
        self.told: list[int] = []

    def open(self, producer: str = "P", wanted: int = -1, wall_ms: int = 100) -> None:
        def told(epoch: int, error: BaseException | None) -> None:
            assert error is None
            self.told.append(epoch)

        self.epochs.open(producer, wanted, Now(wall_ms, 0), told)

    def open_round(self, producer: str, round_id: int, topic: str = "Orders") -> None:
        epoch = self.epochs.next_in(producer, round_id)
        round_ = EpochRound(round_id, {topic: "plan"}, {topic: 3})
        self.epochs.open_round(producer, epoch, round_, Now(100, 0), lambda epoch, error: None)
        self.work()

    def save_finished(self, *write_ids: str) -> None:
        told: list[BaseException | None] = []
        self.epochs.save_finished(write_ids, told.append)
        self.work()
        assert told == [None]

    def work(self) -> None:
        self.worker.run_all()
        self.worker.collect()


def test_an_epoch_is_told_once_it_is_on_the_disk_and_holds_at_once() -> None:
    rig = Rig()
    rig.open(wall_ms=100)
    assert (rig.told, rig.known.epoch_of("P")) == ([], 100)
    rig.work()
    assert rig.told == [100]
    assert Rig(rig.disk.power_cut()).known.epoch_of("P") == 100


def test_the_next_is_greater_even_if_the_clock_is_not() -> None:
    rig = Rig()
    for wall_ms in (100, 100, 50):
        rig.open(wall_ms=wall_ms)
        rig.work()
    assert rig.told == [100, 101, 102]


def test_one_that_is_asked_for_is_taken() -> None:
    rig = Rig()
    rig.open(wanted=7)
    rig.open(wanted=7)
    rig.work()
    assert rig.told == [7, 7]


def test_who_is_forgotten_leaves_the_file_with_the_next_change() -> None:
    rig = Rig(limits=Limits(producers=2))
    for producer in ("A", "B", "C"):
        rig.open(producer)
        rig.work()
    assert b'"A"' not in rig.disk.read(PATH)
    assert b'"B"' in rig.disk.read(PATH)


@pytest.mark.parametrize(
    "content",
    [
        b'{"epochs":{"P":"x"}}',
        b'{"epochs":7}',
        b'{"epochs":{},"rounds":{"P":{"plans":{}}}}',
        b'{"finished":{"w":{"roundId":1,"epoch":1,"usedMs":1,"whole":[7]}}}',
        b'{"finished":{"w":{"roundId":1,"epoch":1,"usedMs":1,"tasks":{"Orders":[3,1]}}}}',
        b'{"finished":{"w":{"roundId":1,"epoch":1,"usedMs":1,"tasks":{"Orders":[1]}}}}',
        b'{"finished":{"w":{"roundId":1,"epoch":1,"usedMs":1,"tasks":{"Orders":[1,"x"]}}}}',
        b"nothing",
    ],
)
def test_a_file_that_cannot_be_believed_stops_the_start(content: bytes) -> None:
    disk = SimDisk()
    disk.replace(PATH, content)
    with pytest.raises(CorruptFile):
        Rig(disk)


def test_a_rounds_plan_is_on_the_disk_with_its_epoch_and_stays() -> None:
    rig = Rig()
    told: list[int] = []
    for epoch, plan in ((9 << 20, "first"), ((9 << 20) + 1, "second")):
        rig.epochs.open_round(
            "P",
            epoch,
            EpochRound(9, {"Orders": plan}),
            Now(100, 0),
            lambda epoch, error: told.append(epoch),
        )
        assert told == ([] if plan == "first" else [9 << 20])
        rig.work()
    assert told == [9 << 20, (9 << 20) + 1]
    back = Rig(rig.disk.power_cut())
    known = back.known.find_producer("P")
    assert known is not None
    assert (known.epoch, known.round_id) == ((9 << 20) + 1, 9)
    assert known.plans == {"Orders": "first"}
    assert back.epochs.next_in("P", 9) == (9 << 20) + 2
    assert back.epochs.next_in("P", 10) == 10 << 20
    assert back.epochs.next_in("P", 8) == (9 << 20) + 2


def test_what_a_round_may_send_to_is_reserved_after_a_crash_too() -> None:
    rig = Rig(limits=Limits(queues=6))
    for producer in ("q/0", "q/1"):
        round_ = EpochRound(3, {"Orders": "plan"}, {"Orders": 3})
        rig.epochs.open_round(producer, 3 << 20, round_, Now(100, 0), lambda epoch, error: None)
        rig.work()
    again = Rig(rig.disk.power_cut(), Limits(queues=6))
    assert not again.known.has_room("q/2", 3, "Orders", 1)
    assert again.known.has_room("q/1", 4, "Orders", 3)


def test_rounds_of_a_file_that_does_not_say_how_many_queues_are_taken_as_they_are() -> None:
    disk = SimDisk()
    text = b'{"epochs":{"q/0":3145728},"rounds":{"q/0":{"roundId":3,"plans":{"Orders":"plan"}}}}'
    ConfigFile(disk, PATH).store_text(text)
    known = Rig(disk).known.find_producer("q/0")
    assert known is not None
    assert (known.round_id, known.plans, known.reserved) == (3, {"Orders": "plan"}, {})


def test_what_is_finished_is_on_the_disk_and_its_producers_do_not_come_back() -> None:
    rig = Rig()
    for producer in ("w/0", "w/1", "v/0"):
        rig.open_round(producer, 3)
    rig.known.finish_write("w", "Orders", 3, 100)
    rig.save_finished("w")
    again = Rig(rig.disk.power_cut())
    assert [name for name, _ in again.known.all()] == ["v/0"]
    assert again.known.epoch_of("w/1") == (3 << 20) + 1
    assert again.epochs.next_in("w/1", 3) == (3 << 20) + 2
    again.open_round("w/0", 4)
    text = again.disk.read(PATH)
    assert b'"w/0"' in text
    assert b'"w/1"' not in text
    assert b'"w":{' in text


def test_of_a_task_with_several_topics_those_that_are_not_finished_come_back() -> None:
    rig = Rig(limits=Limits(queues=6))
    rig.open_round("w/0", 3)
    rig.open_round("w/0", 3, "Other")
    rig.known.finish_task("w/0", "Orders", 100)
    rig.save_finished("w")
    again = Rig(rig.disk.power_cut(), Limits(queues=6))
    known = again.known.find_producer("w/0")
    assert known is not None
    assert (known.plans, known.reserved) == ({"Other": "plan"}, {"Other": 3})
    assert known.epoch == rig.known.epoch_of("w/0")  # whoever sent to the first is refused
    assert again.known.has_room("w/1", 3, "Orders", 3)


def test_what_is_finished_no_more_leaves_the_file() -> None:
    rig = Rig()
    rig.known.finish_write("w", "Orders", 3, 100)
    rig.known.finish_write("v", "Orders", 3, 2000)
    rig.save_finished("w", "v")
    rig.known.finished.forget_before(100)
    rig.known.forget_topic("Orders")
    rig.save_finished("v")
    text = rig.disk.read(PATH)
    assert b'"w"' not in text
    assert b'"v":{' in text
    assert b"Orders" not in text
