"""Compaction against a dictionary: key → newest message, of any history of a store.

The model knows every message that was stored. After any mixture of messages, deletions, time, log
files that go, stops, crashes and topics that are deleted and made again, a reader from the begin of
a queue gets messages as they were stored, at their own offsets, in order; among them the newest of
each key, unless that is a deletion that had its time; and all that was stored after the last log
file began.
"""

from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from aerobee.sim.disk import SimDisk
from aerobee.storage.retain.compaction_run import KEY_BYTES
from tests.compaction_kit import CONFIG, INTERVAL_MS, TOPIC, CompactionKit, Seen, seen

DELETION_MS = 3 * INTERVAL_MS
STORAGE = replace(
    CONFIG,
    compaction_map_bytes=3 * KEY_BYTES,
    deletion_retention_ms=DELETION_MS,
    retention_ms=10 * INTERVAL_MS,
)
QUEUES = (0, 1)


class CompactionMachine(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.kit = CompactionKit(SimDisk(), STORAGE)
        self.stored: dict[int, list[tuple[Seen, int]]] = {queue_id: [] for queue_id in QUEUES}
        self.number = 0

    # What happens.

    @rule(
        queue_id=st.sampled_from(QUEUES),
        keys=st.lists(st.integers(0, 7), min_size=1, max_size=10),
        is_deletion=st.booleans(),
    )
    def put(self, queue_id: int, keys: list[int], is_deletion: bool) -> None:
        for number in keys:
            body = b"" if is_deletion and number % 3 == 0 else b"value %d" % self.number
            self.kit.put(f"k{number}", body, queue_id=queue_id)
            stored = self.stored[queue_id]
            now_ms = self.kit.clock.now().wall_ms
            stored.append((Seen(len(stored), f"k{number}", body), now_ms))
            self.number += 1
        self.kit.settle()

    @rule()
    def the_log_rolls(self) -> None:
        self.kit.fill()

    @rule(times=st.integers(1, 4))
    def time_passes(self, times: int) -> None:
        self.kit.compact(times * INTERVAL_MS)

    @rule(steps=st.integers(1, 12))
    def a_little_is_done(self, steps: int) -> None:
        self.kit.step(INTERVAL_MS)
        for _ in range(steps):
            self.kit.worker.run_all()
            self.kit.step()

    @rule()
    def the_log_goes(self) -> None:
        self.kit.grow_old()

    @rule()
    def it_stops_cleanly(self) -> None:
        self.kit = self.kit.opened_again()

    @rule()
    def it_is_killed(self) -> None:
        self.kit = self.kit.opened_again(self.kit.disk.kill())

    @rule(seed=st.integers(0, 1 << 20), number=st.integers(0, 5))
    def the_power_fails(self, seed: int, number: int) -> None:
        self.kit.settle()
        states = list(self.kit.disk.crash_states(random_count=4, seed=seed))
        self.kit = self.kit.opened_again(states[number % len(states)])

    @rule()
    def the_topic_is_deleted_and_made_again(self) -> None:
        self.kit.store.delete_topic(TOPIC)
        for _ in range(4):
            self.kit.settle()
        self.kit.store.compaction.set(TOPIC, True)
        self.stored = {queue_id: [] for queue_id in QUEUES}

    # What must be so.

    @invariant()
    def a_reader_gets_the_newest_of_each_key(self) -> None:
        now_ms = self.kit.clock.now().wall_ms
        for queue_id in QUEUES:
            stored = self.stored[queue_id]
            found = seen(self.kit.store, TOPIC, queue_id)
            offsets = [one.offset for one in found]
            assert offsets == sorted(set(offsets))
            assert all(one == stored[one.offset][0] for one in found)
            newest = {one.key: (one, ms) for one, ms in stored}
            for one, stored_ms in newest.values():
                if one.body or now_ms - stored_ms < DELETION_MS:
                    assert one in found
            queue = self.kit.store.queue(TOPIC, queue_id)
            assert (0 if queue is None else queue.max_offset) == len(stored)

    @invariant()
    def compaction_has_no_problem(self) -> None:
        assert self.kit.store.compaction.problem == ""


def test_a_compacted_store_agrees_with_a_dictionary() -> None:
    run_state_machine_as_test(CompactionMachine, settings=settings(stateful_step_count=20))
