from aerobee.service.broker.log_access.queue_facts import QueueFacts
from aerobee.service.broker.pop.take.pop_offsets import PopOffsets
from aerobee.service.broker.state.consumer_offsets import UNKNOWN, ConsumerOffsets
from tests.store_kit import StoreKit

KEY = ("g", "Orders", 0)
OTHER = ("g", "Orders", 1)


class Rig:
    def __init__(self, count_max: int = 100) -> None:
        kit = StoreKit()
        kit.append_many(20)
        kit.append_many(20, queue_id=1)
        kit.settle()
        self.committed = ConsumerOffsets(count_max)
        self.offsets = PopOffsets(self.committed, QueueFacts(kit.store))

    def committed_at(self) -> int:
        return self.committed.find(*KEY)


def test_the_next_pop_begins_behind_the_last_one_at_once() -> None:
    rig = Rig()
    assert rig.offsets.position(KEY) == UNKNOWN
    assert rig.offsets.begin(KEY, 2)
    assert rig.offsets.position(KEY) == 2
    rig.offsets.popped(KEY, 5, log_start=900, log_end=1_000)
    assert rig.offsets.position(KEY) == 5


def test_nothing_is_committed_before_its_checkpoint_is_on_the_disk() -> None:
    rig = Rig()
    rig.offsets.begin(KEY, 0)
    rig.offsets.popped(KEY, 5, log_start=900, log_end=1_000)
    rig.offsets.popped(KEY, 9, log_start=1900, log_end=2_000)
    rig.offsets.commit_safe(999)
    assert rig.committed_at() == 0
    rig.offsets.commit_safe(1_999)
    assert rig.committed_at() == 5
    assert rig.offsets.position(KEY) == 9
    rig.offsets.commit_safe(2_000)
    assert rig.committed_at() == 9


def test_what_is_passed_over_is_committed_after_what_was_popped_before_it() -> None:
    rig = Rig()
    rig.offsets.begin(KEY, 0)
    rig.offsets.passed(KEY, 3)
    assert rig.committed_at() == 3
    rig.offsets.popped(KEY, 5, log_start=900, log_end=1_000)
    rig.offsets.passed(KEY, 8)
    assert (rig.committed_at(), rig.offsets.position(KEY)) == (3, 8)
    rig.offsets.commit_safe(1_000)
    assert (rig.committed_at(), rig.offsets.position(KEY)) == (8, 8)


def test_queues_wait_for_their_own_checkpoints() -> None:
    rig = Rig()
    rig.offsets.begin(KEY, 0)
    rig.offsets.begin(OTHER, 0)
    rig.offsets.popped(KEY, 5, log_start=900, log_end=1_000)
    rig.offsets.popped(OTHER, 7, log_start=1900, log_end=2_000)
    rig.offsets.commit_safe(1_000)
    assert rig.committed_at() == 5
    assert rig.committed.find(*OTHER) == 0
    assert rig.offsets.position(OTHER) == 7


def test_an_operator_sends_a_group_back_whatever_is_on_its_way() -> None:
    rig = Rig()
    rig.offsets.begin(KEY, 0)
    rig.offsets.popped(KEY, 5, log_start=900, log_end=1_000)
    rig.committed.reset("g", "Orders", 0, 2)
    assert rig.offsets.take_reset(KEY) == 2
    assert rig.offsets.position(KEY) == 2
    rig.offsets.popped(KEY, 4, log_start=2900, log_end=3_000)
    rig.offsets.commit_safe(2_000)
    assert rig.committed_at() == 2
    rig.offsets.commit_safe(3_000)
    assert rig.committed_at() == 4
    assert rig.offsets.take_reset(KEY) is None


def test_a_group_that_was_deleted_meanwhile_does_not_come_back() -> None:
    rig = Rig()
    rig.offsets.begin(KEY, 0)
    rig.offsets.popped(KEY, 5, log_start=900, log_end=1_000)
    rig.committed.remove_group("g")
    rig.offsets.commit_safe(1_000)
    assert rig.committed_at() == UNKNOWN


def test_where_checkpoints_begin_that_are_not_counted_is_known() -> None:
    rig = Rig()
    rig.offsets.begin(KEY, 0)
    assert rig.committed.popped_to == -1
    rig.offsets.popped(KEY, 5, log_start=900, log_end=1_000)
    assert rig.committed.popped_to == 900
    rig.offsets.popped(KEY, 9, log_start=1_900, log_end=2_000)
    rig.offsets.commit_safe(1_500)
    assert rig.committed.popped_to == 1_900
    rig.offsets.commit_safe(2_500)
    assert rig.committed.popped_to == 2_000


def test_without_room_for_its_offset_a_group_cannot_begin() -> None:
    rig = Rig(count_max=1)
    assert rig.offsets.begin(KEY, 0)
    assert not rig.offsets.begin(OTHER, 0)


def test_positions_in_a_deleted_topic_are_not_positions_in_the_next_of_its_name() -> None:
    rig = Rig()
    other = ("g", "Bills", 0)
    for key in (KEY, other):
        rig.offsets.begin(key, 0)
        rig.offsets.popped(key, 5, log_start=900, log_end=1_000)
    rig.committed.remove_topic("Orders")
    rig.offsets.forget_topic("Orders")
    assert rig.offsets.position(KEY) == UNKNOWN
    assert rig.offsets.position(other) == 5
    assert rig.offsets.begin(KEY, 0)
    rig.offsets.popped(KEY, 2, log_start=1_900, log_end=2_000)
    rig.offsets.commit_safe(1_000)
    assert (rig.committed_at(), rig.offsets.position(KEY)) == (0, 2)
    rig.offsets.commit_safe(2_000)
    assert (rig.committed_at(), rig.offsets.position(KEY)) == (2, 2)
