from aerobee.protocol.bodies.revive_records import Checkpoint
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.pop.revive.offset_catch_up import catch_up
from aerobee.service.broker.pop.revive.revive_writer import ReviveWriter
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from tests.store_kit import StoreKit

TOPICS = frozenset({b"revive"})


class Rig:
    """A store in which a group has popped, and offsets as they were saved at a time."""

    def __init__(self) -> None:
        self.kit = StoreKit()
        self.kit.append_many(20)
        self.intake = MessageWriter(self.kit.store, SafeAnswers(self.kit.store, lambda: 5_000), 18)
        self.log = ReviveWriter(self.intake, "revive", self.kit.config.store_host)
        self.offsets = ConsumerOffsets()
        self.save(0)

    def save(self, offset: int) -> None:
        self.offsets.commit("g", "Orders", 0, offset, 20)
        self.offsets.take_saved(self.kit.clock.now().wall_ms, 0)

    def pop(self, start: int, popped_to: int | None, topic: str = "Orders") -> None:
        self.kit.clock.advance(1)
        wall_ms = self.kit.clock.now().wall_ms
        checkpoint = Checkpoint(topic, "g", 0, start, wall_ms, 10_000, "b", (0,))
        self.log.put_checkpoint(checkpoint, start % 8, self.kit.clock.now(), popped_to)

    def caught_up(self) -> int:
        self.kit.settle()
        catch_up(self.kit.store, self.offsets, TOPICS)
        return self.offsets.find("g", "Orders", 0)


def test_offsets_are_raised_to_what_was_popped_since_they_were_saved() -> None:
    rig = Rig()
    rig.pop(0, 4)
    rig.pop(4, 9)
    assert rig.caught_up() == 9


def test_what_was_popped_before_the_save_says_nothing() -> None:
    rig = Rig()
    rig.pop(0, 9)
    rig.kit.clock.advance(5)
    # An operator sent the group back, and that was saved.
    rig.save(3)
    assert rig.caught_up() == 3


def test_what_the_saved_offsets_do_not_count_is_counted_whenever_it_was_popped() -> None:
    rig = Rig()
    rig.pop(0, 4)
    rig.offsets.popped_to = rig.kit.store.end_offset
    rig.pop(4, 9)
    rig.kit.clock.advance(5)
    rig.save(2)
    assert rig.caught_up() == 9
    # All of it is counted now: an operator may send the group back.
    rig.offsets.commit("g", "Orders", 0, 3, 20)
    assert rig.caught_up() == 3


def test_an_offset_that_is_further_stays() -> None:
    rig = Rig()
    rig.pop(0, 4)
    rig.offsets.commit("g", "Orders", 0, 12, 20)
    assert rig.caught_up() == 12


def test_a_message_that_was_hidden_for_longer_moves_no_offset() -> None:
    rig = Rig()
    rig.pop(15, None)
    assert rig.caught_up() == 0


def test_a_topic_that_was_made_anew_begins_anew() -> None:
    rig = Rig()
    rig.pop(0, 4, topic="Other")
    rig.kit.append_many(20, b"Other")
    rig.kit.settle()
    catch_up(rig.kit.store, rig.offsets, TOPICS)
    assert rig.offsets.find("g", "Other", 0) == -1


def test_only_the_broker_itself_is_believed() -> None:
    rig = Rig()
    rig.log = ReviveWriter(rig.intake, "revive", bytes((10, 0, 0, 9)) + bytes(4))
    rig.pop(0, 9)
    assert rig.caught_up() == 0


def test_other_topics_are_not_looked_at() -> None:
    rig = Rig()
    rig.log = ReviveWriter(rig.intake, "else", rig.kit.config.store_host)
    rig.pop(0, 9)
    assert rig.caught_up() == 0


def test_a_checkpoint_that_comes_late_out_of_the_timer_raises_no_offset_of_a_newer_topic() -> None:
    """It was of a topic that was deleted; one of the same name has messages since."""
    rig = Rig()
    popped_ms = rig.kit.clock.now().wall_ms
    rig.kit.clock.advance(1)
    rig.kit.append_many(20, b"Other")
    rig.kit.clock.advance(10_000)
    for topic, pop_time in (("Orders", popped_ms), ("Other", popped_ms)):
        copied = Checkpoint(topic, "g", 0, 0, pop_time, 10_000, "b", (0,))
        rig.log.put_checkpoint(copied, 0, rig.kit.clock.now(), 4)
    assert rig.caught_up() == 4
    assert rig.offsets.find("g", "Other", 0) == -1
