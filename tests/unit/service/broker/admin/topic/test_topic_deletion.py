"""Deleting the messages of topics: on the disk before it is over, and nothing comes back."""

import errno

from aerobee.errors import DiskFailed
from aerobee.ports.disk_worker import Lane
from aerobee.service.broker.admin.topic.topic_deletion import delete_messages
from aerobee.service.broker.deduplication.deduplication_assembly import (
    DeduplicationAssembly,
    open_deduplication,
)
from aerobee.sim.disk import SimDisk
from aerobee.storage.metadata.config_file import ConfigFile
from tests.broker_kit import BrokerKit
from tests.once_kit import ORDERS
from tests.store_kit import ROOT, StoreKit, bodies_of, draft
from tests.wire import JAVA_FIELDS

OFFSETS = f"{ROOT}/config/consumerOffset.json"


class Rig:
    """A store with two topics, of each of which a write is finished."""

    def __init__(self, disk: SimDisk | None = None) -> None:
        self.kit = StoreKit(disk)
        self.known = self._open()
        self.forgotten: list[str] = []
        self.told: list[BaseException | None] = []
        if disk is None:
            for topic in ("Orders", "Other"):
                self.kit.append(draft(topic.encode(), 0, b"old"))
                self.known.round_completion.finish_write("w", topic, 4, self.kit.clock.now())
            for _ in range(2):
                for released in self.kit.settle():
                    assert callable(released)
                    released(True)

    def _open(self) -> DeduplicationAssembly:
        kit = self.kit
        epochs, sequences = (
            ConfigFile(kit.disk, f"{ROOT}/config/{name}") for name in ("epochs", "sequences")
        )
        return open_deduplication(epochs, sequences, kit.worker, kit.store, kit.clock.now())

    def delete(self, *topics: str) -> None:
        delete_messages(
            self.kit.store,
            self.known.round_completion,
            self.forgotten.append,
            topics,
            self.told.append,
        )

    def is_there(self, topic: str) -> tuple[bool, bool]:
        """Its messages, and that a write to it is finished."""
        is_finished = self.known.known.finished.covers("w/0", topic, 4)
        return bodies_of(self.kit.store, topic.encode()) != [], is_finished


def test_it_is_over_once_all_of_it_is_on_the_disk() -> None:
    rig = Rig()
    assert Rig(rig.kit.disk.power_cut()).is_there("Orders") == (True, True)
    rig.delete("Orders", "Empty")
    assert rig.forgotten == ["Orders", "Empty"]
    states = set()
    while not rig.told:
        states.add(Rig(rig.kit.disk.power_cut()).is_there("Orders"))
        assert rig.kit.worker.run_next(Lane.BACKGROUND)
        rig.kit.step(0)
    assert rig.told == [None]
    assert states > {(True, True)}
    cut = Rig(rig.kit.disk.power_cut())
    assert cut.is_there("Orders") == (False, False)
    assert cut.is_there("Other") == (True, True)


def test_an_error_is_told_once() -> None:
    rig = Rig()
    rig.kit.step(0)
    rig.delete("Orders", "Other")
    rig.kit.step(0)
    rig.kit.disk.faults.fail_call(1, errno.EIO)
    while not rig.told:
        assert rig.kit.worker.run_next()
        rig.kit.step(0)
    (error,) = rig.told
    assert isinstance(error, OSError)


def test_a_failed_disk_is_told_once() -> None:
    rig = Rig()
    rig.kit.disk.faults.fail_sync("*deleted_topics*")
    rig.delete("Orders", "Other")
    for _ in range(4):
        rig.kit.step(0)
        rig.kit.worker.run_all()
    (error,) = rig.told
    assert isinstance(error, DiskFailed)


# Through a broker.


def send(kit: BrokerKit, body: bytes, text: str = "") -> int:
    """Its queue offset."""
    answer = kit.ask(310, {**JAVA_FIELDS, "b": "Orders", "e": "0", "i": text}, body)
    assert answer.code == 0, answer.remark
    return int(answer.ext_fields["queueOffset"])


def commit(kit: BrokerKit, offset: int) -> None:
    kit.ask(15, {**GROUP, "commitOffset": str(offset)})


def committed(kit: BrokerKit) -> int:
    """Where the group goes on: at 0, if it has never been there."""
    answer = kit.ask(14, GROUP)
    assert answer.code == 0, answer.remark
    return int(answer.ext_fields["offset"])


GROUP = {"consumerGroup": "g", "topic": "Orders", "queueId": "0"}


def test_a_topic_that_is_deleted_and_made_again_takes_messages_from_0_on_at_once() -> None:
    kit = BrokerKit(ORDERS)
    for number in range(20):
        for _ in range(3):
            send(kit, b"old")
        assert kit.ask(215, {"topic": "Orders"}).code == 0
        kit.make_topic(ORDERS)
        assert send(kit, b"%d" % number) == 0
        assert kit.bodies() == [b"%d" % number]
    for after in (kit.killed(), kit.restarted()):
        assert after.bodies() == [b"19"]


def test_offsets_of_a_group_in_a_deleted_topic_do_not_come_back_after_a_kill() -> None:
    """The file of offsets is still the one that was saved before the deletion."""
    kit = BrokerKit(ORDERS)
    for _ in range(5):
        send(kit, b"old")
    commit(kit, 5)
    kit.run(6_000)
    assert b'"Orders@g"' in kit.disk.read(OFFSETS)
    assert committed(kit.killed()) == 5
    assert kit.ask(215, {"topic": "Orders"}).code == 0
    kit.make_topic(ORDERS)
    for _ in range(3):
        send(kit, b"new")
    assert b'"Orders@g"' in kit.disk.read(OFFSETS)
    killed = kit.killed()
    assert (committed(kit), committed(killed)) == (0, 0)
    commit(killed, 2)
    assert committed(killed.restarted()) == 2


def test_a_delayed_message_of_a_deleted_topic_never_comes() -> None:
    kit = BrokerKit(ORDERS)
    send(kit, b"old", "DELAY\x011\x02")
    assert kit.ask(215, {"topic": "Orders"}).code == 0
    kit.make_topic(ORDERS)
    send(kit, b"new", "DELAY\x012\x02")
    for after in (kit.killed(), kit):
        after.run(10_000)
        assert after.bodies() == [b"new"]
