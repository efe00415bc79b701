"""A consume queue against a list: any appends, gaps, restarts, cuts, retention, stops and crashes.

The model keeps what the queue must answer, unit by unit: the place of a record, or None in a gap.
Beside it stands the log, as a list of all that was ever dispatched: what a power cut takes from
the queue is put again from there, and then the two must agree as if nothing had happened.
"""

import struct

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from aerobee.sim.disk import SimDisk
from aerobee.storage.index.consume_queue import FILLER_SIZE, UNIT_BYTES, ConsumeQueue
from tests.store_kit import contents

FOLDER = "queue"
Place = tuple[int, int, int]  # log offset, size, tag code


class ConsumeQueueMachine(RuleBasedStateMachine):
    """M1. units[i] is of queue offset first + i; those before min_offset are hidden.
    M2. log holds (queue offset, place) of every record in [log_min, log_end), in order.
    """

    @initialize(file_units=st.integers(1, 6), first=st.one_of(st.just(0), st.integers(0, 40)))
    def begin(self, file_units: int, first: int) -> None:
        self.disk = SimDisk()
        self.disk.make_directory(FOLDER)
        self.file_units = file_units
        self.queue = self.new_queue()
        self.units: list[Place | None] = []
        self.first = first
        self.min_offset = 0
        self.log: list[tuple[int, Place]] = []
        self.log_min = 0
        self.log_end = 0
        self.checkpoint()

    def new_queue(self) -> ConsumeQueue:
        return ConsumeQueue(self.disk, FOLDER, b"T", 0, self.file_units)

    @property
    def max_offset(self) -> int:
        return self.first + len(self.units) if self.units else self.min_offset

    # Appending.

    def put(self, queue_offset: int, distance: int, size: int, tag: int) -> None:
        """A record further on in the log, in the log, the queue and the model."""
        place = (self.log_end + distance, size, tag)
        self.log.append((queue_offset, place))
        self.log_end = place[0] + size
        assert self.queue.append(queue_offset, *place)
        self.model_put(queue_offset, place)

    def model_put(self, queue_offset: int, place: Place) -> None:
        if queue_offset < self.max_offset:
            assert queue_offset == 0, "a topic made anew"
            self.units = []
            self.min_offset = 0
        if not self.units:
            if self.min_offset == 0:
                self.min_offset = queue_offset
            self.first = self.min_offset
        self.units += [None] * (queue_offset - self.max_offset)
        self.units.append(place)

    @rule(
        distance=st.integers(0, 50), size=st.integers(1, 30), tag=st.integers(-(2**31), 2**31 - 1)
    )
    def append_next(self, distance: int, size: int, tag: int) -> None:
        offset = self.max_offset if self.units or self.min_offset else self.first
        self.put(offset, distance, size, tag)

    @precondition(lambda self: self.units)
    @rule(gap=st.integers(1, 12), size=st.integers(1, 30))
    def append_after_a_gap(self, gap: int, size: int) -> None:
        self.put(self.max_offset + gap, 5, size, 7)

    @precondition(lambda self: self.max_offset > 0)
    @rule(size=st.integers(1, 30))
    def append_to_the_topic_made_anew(self, size: int) -> None:
        self.put(0, 3, size, 1)

    @precondition(lambda self: self.min_offset < self.max_offset)
    @rule(data=st.data())
    def append_what_is_there(self, data: st.DataObject) -> None:
        offset = data.draw(st.integers(self.min_offset, self.max_offset - 1))
        place = self.units[offset - self.first]
        if place is not None:
            assert not self.queue.append(offset, *place)

    # Cutting at either end. A record is there whole or not at all.

    def boundaries(self) -> list[int]:
        ends = {end for _, place in self.log for end in (place[0], place[0] + place[1])}
        return sorted({self.log_min, *ends})

    @rule(data=st.data(), is_torn=st.booleans())
    def the_log_loses_its_tail(self, data: st.DataObject, is_torn: bool) -> None:
        self.log_end = data.draw(st.sampled_from(self.boundaries()))
        self.log = [(offset, place) for offset, place in self.log if place[0] < self.log_end]
        self.queue.truncate_to(self.log_end, is_torn)
        del self.units[self.model_first_at(self.log_end) - self.first :]
        self.checkpoint()

    @rule(data=st.data())
    def retention(self, data: st.DataObject) -> None:
        """Never of what the checkpoint does not have: its offsets would be given out again."""
        known = [end for end in self.boundaries() if end <= max(self.synced[0], self.log_min)]
        self.log_min = data.draw(st.sampled_from(known))
        self.log = [(offset, place) for offset, place in self.log if place[0] >= self.log_min]
        self.queue.drop_below(self.log_min)
        self.min_offset = self.model_first_at(self.log_min)

    def model_first_at(self, log_offset: int) -> int:
        """By looking at one visible unit after another. A gap belongs to the record before it."""
        end_before = 0
        for offset in range(self.min_offset, self.max_offset):
            place = self.units[offset - self.first]
            if place is None:
                if end_before > log_offset:
                    return offset
            elif place[0] >= log_offset:
                return offset
            else:
                end_before = place[0] + place[1]
        return self.max_offset

    # Stopping.

    @rule(is_torn=st.booleans())
    def stop_and_start(self, is_torn: bool) -> None:
        self.queue = self.new_queue()
        self.queue.load(is_torn)
        self.queue.drop_below(self.log_min)
        self.min_offset = self.model_first_at(self.log_min)  # may hide a gap with all before it

    @rule()
    def checkpoint(self) -> None:
        for file in self.queue.take_unsynced_files():
            file.disk_file.sync()
        self.disk.sync_directory(FOLDER)
        self.synced = (self.log_end, self.queue.max_offset)

    @rule(seed=st.integers(0, 1 << 16), choice=st.integers(0, 1 << 16))
    def power_cut(self, seed: int, choice: int) -> None:
        """The queue is cut to the checkpoint. If it then ends where it did, it is believed."""
        states = list(self.disk.crash_states(4, seed))
        self.disk = states[choice % len(states)]
        self.queue = self.new_queue()
        self.queue.load(is_torn=True)
        dispatched, max_offset = self.synced
        self.queue.truncate_to(dispatched, is_torn=True)
        if self.queue.max_offset != max_offset:
            self.queue.clear()
            dispatched = 0
            self.rebuild_model()
        for queue_offset, place in self.log:
            if place[0] >= dispatched:
                self.queue.append(queue_offset, *place)
        self.queue.drop_below(self.log_min)
        self.min_offset = self.model_first_at(self.log_min)
        self.checkpoint()

    def rebuild_model(self) -> None:
        self.units = []
        self.first = self.min_offset = 0
        for queue_offset, place in self.log:
            self.model_put(queue_offset, place)

    # What must hold.

    @invariant()
    def every_unit_agrees(self) -> None:
        if not hasattr(self, "synced"):
            return
        assert (self.queue.min_offset, self.queue.max_offset) == (self.min_offset, self.max_offset)
        for offset in range(self.min_offset, self.max_offset):
            place = self.units[offset - self.first]
            found = self.queue.unit(offset)
            assert found is not None
            assert found == place if place is not None else found[:2] == (0, FILLER_SIZE)
        assert self.queue.unit(self.min_offset - 1) is None
        assert self.queue.unit(self.max_offset) is None

    @invariant()
    def halving_agrees_with_looking(self) -> None:
        if hasattr(self, "synced"):
            for log_offset in self.boundaries():
                assert self.queue.first_at(log_offset) == self.model_first_at(log_offset)

    @invariant()
    def behind_the_end_there_are_zeros(self) -> None:
        if not hasattr(self, "synced"):
            return
        for path, content in contents(self.disk, FOLDER).items():
            end = max(0, self.max_offset * UNIT_BYTES - int(path[-20:]))
            assert not any(content[end:]), path
            for (size,) in struct.iter_unpack(">8xi8x", content[:end]):
                assert size > 0


TestConsumeQueue = ConsumeQueueMachine.TestCase
TestConsumeQueue.settings = settings(stateful_step_count=30)
