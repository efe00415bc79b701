"""Takes over the progress of an acting master into the files of the master that returns.

    consumer offsets     the higher one of each queue; those of the broker's own groups, by which
                         transactions and pops go on, too
    delay offsets        the higher one of each level
    timer checkpoint     if it is of a later time

An offset only rises while a message is consumed or delivered, so the higher one is the later one:
with the master's own a message may be delivered twice, with a lower one it would be for certain.
An offset that an operator has set back at the acting master looks like one that is behind.
No offset is taken that the log of this broker does not reach.

Blocks on the disk, once.
"""

from collections.abc import Mapping

from aerobee.model.names import SCHEDULE_TOPIC, TIMER_TOPIC
from aerobee.ports.clock import Now
from aerobee.service.broker.replication.metadata.metadata_round import Progress
from aerobee.service.broker.replication.metadata.own_progress import find_timer_check
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.service.broker.state.offset_table import Picture
from aerobee.service.broker.state.tables import Ground, Tables
from aerobee.storage.store import Store
from aerobee.storage.timer.timer_checkpoint import (
    TimerCheck,
    check_path,
    copied_check,
    encode_check,
)


def take_progress(progress: Progress, tables: Tables, ground: Ground, now: Now) -> None:
    """Take over what is further than this broker's own."""
    _take_offsets(progress.offsets.committed, tables.offsets, ground.store)
    _take_delays(progress.delays.offsets, tables, ground.store, now)
    if progress.timer is not None:
        _take_timer(progress.timer, ground)


def _take_offsets(said: Picture, offsets: ConsumerOffsets, store: Store) -> None:
    for (topic, group), by_queue in said.items():
        for queue_id, offset in by_queue.items():
            end = _end_of(store, topic, queue_id)
            if min(offset, end) > offsets.find(group, topic, queue_id):
                offsets.commit(group, topic, queue_id, min(offset, end), end)


def _take_delays(said: Mapping[int, int], tables: Tables, store: Store, now: Now) -> None:
    own = tables.delay_offsets
    further = {
        level: min(offset, _end_of(store, SCHEDULE_TOPIC, level - 1))
        for level, offset in said.items()
    }
    own.finish()
    own.save(
        {level: max(offset, own.saved.get(level, 0)) for level, offset in further.items()},
        now.wall_ms,
    )
    own.finish()


def _take_timer(said: TimerCheck, ground: Ground) -> None:
    found = find_timer_check(ground.store, ground.disk)
    if found is None or said.read_ms > found[0].read_ms:
        taken = copied_check(said, _end_of(ground.store, TIMER_TOPIC, 0))
        ground.disk.replace(check_path(ground.store.root), encode_check(taken, None))


def _end_of(store: Store, topic: str, queue_id: int) -> int:
    queue = store.queue(topic.encode(), queue_id)
    return 0 if queue is None else queue.next_offset
