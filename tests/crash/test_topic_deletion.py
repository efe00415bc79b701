"""A topic that was deleted does not come back, whatever stops the process, and whenever.

Before its note is on the disk a deletion may be undone by a crash, whole. After that nothing of the
topic's first life is ever seen again, not even when all queues are built anew, and nothing of its
second is lost. A crash in between does not make a start build everything again. A topic that is
made again as soon as its deletion is over has its own messages only, wherever a crash comes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.sim.faults import PowerCut
from aerobee.storage.config import FlushMode, StorageConfig
from tests.broker_kit import STORAGE, BrokerKit, create_fields
from tests.crash.moments import judge_every_moment
from tests.once_kit import ORDERS, SEND_ONCE, once_fields
from tests.store_kit import ROOT, SMALL, StoreKit, bodies_of, contents, draft, read_all
from tests.wire import JAVA_FIELDS

KEPT = [b"kept %d" % number for number in range(10)]
FIRST = [b"first %d" % number for number in range(12)]
SECOND = [b"second %d" % number for number in range(3)]
NOTE = f"{ROOT}/deleted_topics"


def with_two_topics(config: StorageConfig = SMALL) -> StoreKit:
    kit = StoreKit(config=config)
    for kept, first in zip(KEPT, FIRST, strict=False):
        kit.append(draft(b"Kept", 0, kept))
        kit.append(draft(b"Gone", 0, first))
    for first in FIRST[len(KEPT) :]:
        kit.append(draft(b"Gone", 0, first))
    kit.settle()
    return kit


def check(survivor: SimDisk, seconds: int) -> None:
    """What a start finds; `seconds`: how many messages of the second life must be there."""
    is_noted = survivor.exists(NOTE)
    kit = StoreKit(survivor)
    assert bodies_of(kit.store, b"Kept") == KEPT, survivor.origin
    found = bodies_of(kit.store, b"Gone")
    if is_noted:
        assert found == SECOND[: len(found)], survivor.origin
        assert len(found) >= seconds, survivor.origin
    else:
        assert found == FIRST, survivor.origin
    # And the start after that one, when every queue has to be built again.
    kit.store.close()
    for path in contents(survivor, f"{ROOT}/consumequeue"):
        survivor.remove(path)
    again = StoreKit(survivor)
    assert bodies_of(again.store, b"Kept") == KEPT, survivor.origin
    assert bodies_of(again.store, b"Gone") == found, survivor.origin
    again.store.close()


def was_rebuilt(disk: SimDisk) -> bool:
    """Whether a start makes queue files again that were there."""
    before = len(disk.faults.calls)
    StoreKit(disk)
    made = [call for call in disk.faults.calls[before:] if call.name == "create_sparse"]
    return any("/Kept/" in call.path for call in made)


def test_at_every_disk_job_of_a_deletion_a_crash_leaves_all_of_a_topic_or_nothing() -> None:
    kit = with_two_topics()
    kit.store.delete_topic(b"Gone")
    states = 0
    for _ in range(40):
        kit.step(700)
        for survivor in kit.disk.crash_states(random_count=4):
            check(survivor, 0)
            states += 1
        if not kit.worker.run_next():
            break
    assert kit.disk.list_directory(f"{ROOT}/consumequeue") == ["Kept"]
    assert states > 20


def test_in_every_disk_call_of_a_deletion_a_crash_leaves_all_of_a_topic_or_nothing() -> None:
    number, is_over = 0, False
    while not is_over:
        number += 1
        kit = with_two_topics()
        kit.store.delete_topic(b"Gone")
        kit.disk.faults.power_cut_at(number)
        is_over = survives(kit)
        for survivor in kit.disk.crash_states(random_count=2):
            assert not was_rebuilt(survivor.kill()), survivor.origin
            check(survivor, 0)
    assert number > 15


def survives(kit: StoreKit) -> bool:
    """Whether a deletion comes to its end without meeting a power cut."""
    try:
        for _ in range(3):
            kit.settle()
    except PowerCut:
        return False
    return True


def test_the_second_life_of_a_topic_survives_and_the_first_does_not() -> None:
    kit = with_two_topics()
    kit.store.delete_topic(b"Gone")
    kit.settle()
    kit.settle()
    for seconds, body in enumerate(SECOND, 1):
        kit.append(draft(b"Gone", 0, body))
        kit.step()
        for survivor in kit.disk.crash_states(random_count=4):
            check(survivor, seconds - 1)
        check(kit.disk.kill(), seconds)
        kit.settle()
        check(kit.disk.power_cut(), seconds)
    kit.store.close()
    check(kit.disk, len(SECOND))


@pytest.mark.parametrize("mode", FlushMode)
def test_a_deletion_that_is_ahead_of_the_log_leaves_what_comes_after_visible(
    mode: FlushMode,
) -> None:
    """The end of the log is lost, the note of the deletion is not: it must not hide the messages
    that take that place."""
    config = replace(SMALL, flush_mode=mode)
    kit = with_two_topics(config)
    for number in range(5):
        kit.append(draft(b"Gone", 0, b"lost %d" % number))
    kit.store.delete_topic(b"Gone")
    kit.store._deletions.note_now()
    survivor = kit.disk.power_cut()
    for _ in range(3):
        again = StoreKit(survivor, config)
        assert len(bodies_of(again.store, b"Gone")) in (0, 1)
        again.settle()
        survivor = again.disk.power_cut()
        again.store.close()
    again = StoreKit(survivor, config)
    again.append(draft(b"Gone", 0, b"anew"))
    assert again.store.appender.queue_offset == 0
    again.settle()
    assert bodies_of(again.store, b"Gone") == [b"anew"]
    assert bodies_of(StoreKit(again.disk.power_cut(), config).store, b"Gone") == [b"anew"]


# Made again at once.

LIVES = [
    [b"first %d" % number for number in range(5)],
    [b"second %d" % number for number in range(4)],
    [b"third %d" % number for number in range(11)],
]


@dataclass
class Lives:
    """A topic that is deleted and made again, twice: how far that is when the power goes."""

    kit: StoreKit
    is_settled: bool
    """Whether a mark knows of each life when it is deleted."""
    life: int = 0
    """How many deletions are over."""
    is_going: bool = False
    """Whether another is under way."""
    stored: list[bytes] = field(default_factory=list)
    """Of this life; in turn in queue 0, 1 and 0 again."""
    safe: int = 0
    """How many of them are on the disk, for sure."""

    def run(self) -> None:
        for number, bodies in enumerate(LIVES):
            if number:
                self._delete()
            for body in bodies:
                self.kit.append(draft(b"Gone", len(self.stored) % 2, body))
                self.stored.append(body)
            if self.kit.config.flush_mode is FlushMode.SYNC:
                self.kit.store.sync()
                self.safe = len(self.stored)
            self.kit.store.dispatch()
            if self.is_settled:
                self.kit.settle()
                self.safe = len(self.stored)
        self.kit.settle()
        self.kit.store.close()

    def _delete(self) -> None:
        """No time passes: nothing is synced but what is asked for."""
        self.is_going = True
        self.kit.store.delete_topic(b"Gone", self._over)
        while self.is_going:
            self.kit.step(0)
            assert self.kit.worker.run_next() or not self.is_going

    def _over(self, error: Exception | None) -> None:
        assert error is None
        self.life += 1
        self.is_going = False
        self.stored = []
        self.safe = 0

    def check(self, survivor: SimDisk, *, has_all: bool) -> None:
        """One life, from its first message on, as far as it went, or none at all if it is being
        deleted; the same for a start that has to build the queues again."""
        place = (survivor.origin, self.life, self.is_going)
        kit = StoreKit(survivor, self.kit.config)
        assert bodies_of(kit.store, b"Kept") == KEPT, place
        found = [read_all(kit.store, b"Gone", queue_id) for queue_id in range(2)]
        for messages in found:
            assert [one.queue_offset for one in messages] == list(range(len(messages))), place
        count = sum(map(len, found))
        least = len(self.stored) if has_all else self.safe
        assert count >= least or (self.is_going and count == 0), (place, count)
        expected = [self.stored[:count][queue_id::2] for queue_id in range(2)]
        assert [[one.body for one in messages] for messages in found] == expected, place
        for queue_id in range(2):
            kit.append(draft(b"Gone", queue_id, b"more"))
            assert kit.store.appender.queue_offset == len(expected[queue_id]), place
        kit.store.close()
        for path in contents(survivor, f"{ROOT}/consumequeue"):
            survivor.remove(path)
        again = StoreKit(survivor, self.kit.config)
        for queue_id in range(2):
            found_again = bodies_of(again.store, b"Gone", queue_id)
            assert found_again == [*expected[queue_id], b"more"], place
        again.store.close()


@pytest.mark.parametrize("mode", FlushMode)
@pytest.mark.parametrize("is_settled", [True, False])
def test_in_every_disk_call_of_a_topic_that_is_made_again_at_once_a_crash_leaves_one_life_of_it(
    mode: FlushMode, is_settled: bool
) -> None:
    config = replace(SMALL, flush_mode=mode)
    number, is_over, lives_seen = 0, False, set()
    while not is_over:
        number += 1
        kit = StoreKit(config=config)
        for body in KEPT:
            kit.append(draft(b"Kept", 0, body))
        kit.settle()
        lives = Lives(kit, is_settled)
        kit.disk.faults.power_cut_at(number)
        try:
            lives.run()
            is_over = True
        except PowerCut:
            lives_seen.add((lives.life, lives.is_going))
        lives.check(kit.disk.kill(), has_all=True)
        for survivor in kit.disk.crash_states(random_count=1, seed=number, share=0.15):
            assert not was_rebuilt(survivor.kill()), (survivor.origin, lives.life)
            lives.check(survivor, has_all=False)
    assert lives_seen == {(0, False), (0, True), (1, False), (1, True), (2, False)}
    assert number > 60


# Of a whole broker.

DELAYED = "DELAY\x011\x02"
GROUP = {"consumerGroup": "g", "topic": "Orders", "queueId": "0"}
SHARE = 0.2
"""Of the states that a power cut can leave at each moment."""


class Remade:
    """A topic that was consumed, and for which something waits, is deleted and made again."""

    def __init__(self, mode: FlushMode) -> None:
        self.storage = replace(STORAGE, flush_mode=mode, log_file_bytes=1 << 13)
        self.kit = BrokerKit(ORDERS, storage=self.storage)
        self.is_deleted = self.is_made = False
        self.sent: list[bytes] = []
        self.acknowledged = 0

    def run(self) -> Iterator[str]:
        kit = self.kit
        for body in (b"old 0", b"old 1"):
            assert kit.ask(310, fields_of(""), body).code == 0
        assert kit.ask(15, {**GROUP, "commitOffset": "2"}).code == 0
        kit.clock.advance(6000)
        kit.finish()  # offsets are saved
        assert kit.ask(SEND_ONCE, once_fields(0, queue=0), b"old once").code == 0
        assert kit.ask(310, fields_of(DELAYED), b"old later").code == 0
        kit.run(600)  # sequences are saved
        assert b"Orders@g" in kit.disk.read(f"{ROOT}/config/consumerOffset.json")
        assert b'"Orders"' in kit.disk.read(f"{ROOT}/config/producerSequences.json")
        yield from self._said("delete", 215, {"topic": "Orders"})
        self.is_deleted = True
        yield from self._said("make", 17, create_fields(ORDERS))
        self.is_made = True
        for number in range(3):
            self.sent.append(b"new %d" % number)
            yield from self._said("send", 310, fields_of(""), self.sent[-1])
            self.acknowledged += 1
            yield f"sent {number}"

    def _said(
        self, name: str, code: int, fields: dict[str, str], body: bytes = b""
    ) -> Iterator[str]:
        self.kit.tell(code, fields, body)
        answers, job = self.kit.heard(), 0
        while not answers:
            yield f"{name}, job {job}"
            assert self.kit.worker.run_next()
            self.kit.tick()
            answers += self.kit.heard()
            job += 1
        assert [answer.code for answer in answers] == [0], (name, answers[0].remark)


def fields_of(text: str) -> dict[str, str]:
    return {**JAVA_FIELDS, "e": "0", "i": text}


def judge(story: Remade, survivor: SimDisk, *, has_all: bool) -> None:
    now = story.kit.clock.now()
    kit = BrokerKit(
        disk=survivor, storage=story.storage, clock=SimClock(now.wall_ms, now.monotonic_ms)
    )
    if not story.is_deleted:
        kit.run(2000)
        found = kit.bodies()
        old = [b"old 0", b"old 1", b"old once"]
        assert found in ([], [*old, b"old later"]), found
        return
    kit.make_topic(ORDERS)  # as it is, if it is there
    begun = kit.ask(14, GROUP)
    assert (begun.code, begun.ext_fields.get("offset", "0")) in ((0, "0"), (22, "0"))
    found = kit.bodies()
    assert found == story.sent[: len(found)]
    assert len(found) >= (story.acknowledged if has_all else 0)
    assert kit.ask(SEND_ONCE, once_fields(0, queue=0), b"once").code == 0
    kit.run(2000)
    assert kit.bodies() == [*found, b"once"]
    assert [message.queue_offset for message in kit.messages()] == list(range(len(found) + 1))


@pytest.mark.parametrize("mode", FlushMode)
def test_at_every_step_of_a_topic_that_is_made_again_a_crash_brings_nothing_back(
    mode: FlushMode,
) -> None:
    story = Remade(mode)
    assert judge_every_moment(story, judge, mode, SHARE) > 6
