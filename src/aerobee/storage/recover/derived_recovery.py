"""Queues and index after a stop: cut back to what is known to be on the disk, or begun anew.

One rule serves every stop: derived files are cut back to the log offset that the mark vouches for,
and the log is dispatched again from there. After a clean stop that is the end of the log, so there
is nothing to do. Their fingerprint tells if files are missing or of another time; what cannot be
believed is dropped and built again from the first record. After a cut of the log (`log_cut`) the
mark speaks of more than the log has: they are judged as the mark speaks of them, and then cut.

While files that the mark vouches for are made again, the mark must not: a power cut could leave
holes in them, and all of their ends. `DispatchStart.mark` says what it may say meanwhile.

Queues of topics that were deleted are taken out first (`deleted_topics`).

A store without a mark was last written by RocketMQ: after its clean stop its queues are believed
as they are, after an unclean one from the file that its checkpoint vouches for.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from aerobee.errors import CorruptFile
from aerobee.ports.disk import Disk
from aerobee.protocol.message.durable_mark_slots import DurableMark
from aerobee.storage.config import StorageConfig
from aerobee.storage.defects import Defect, Defects
from aerobee.storage.index.batch_consume_queues import BatchConsumeQueues
from aerobee.storage.index.consume_queues import ConsumeQueues
from aerobee.storage.index.derived_files import NO_COUNT, DerivedFiles
from aerobee.storage.index.kept_files import FOLDER as KEPT_FOLDER
from aerobee.storage.index.kept_files import KeptFiles
from aerobee.storage.index.key_index import KeyIndex, KeyIndexConfig, discard


class LogState(NamedTuple):
    """What is known of the log when the derived files are opened."""

    min_offset: int
    end_offset: int
    scan_start: int
    """Where the scan of the log began."""
    was_clean: bool
    has_mark: bool


class DispatchStart(NamedTuple):
    """From where the log must be dispatched again."""

    derived: DerivedFiles
    offset: int
    queues_from: int
    """Records before this have their units in the queues; only the index wants them."""
    mark: DurableMark
    """What is true of the derived files now, before anything is dispatched again."""
    dead: list[str]
    """Folders of queues of deleted topics, to be removed once that mark is on the disk."""


def open_derived(
    disk: Disk,
    root: str,
    config: StorageConfig,
    log: LogState,
    mark: DurableMark,
    deleted: Mapping[bytes, int],
    store_timestamp_at: Callable[[int], int | None],
    defects: Defects,
) -> DispatchStart:
    """Open the derived files of a store, cut back to what can be believed."""
    units = config.queue_file_units
    queues = ConsumeQueues(disk, f"{root}/consumequeue", units, deleted)
    batch_queues = BatchConsumeQueues(disk, f"{root}/batchconsumequeue", units, deleted)
    kept = KeptFiles(disk, f"{root}/{KEPT_FOLDER}", deleted)
    kept.load()
    derived = DerivedFiles(queues, batch_queues, None, kept)
    queues.load(not log.was_clean)
    batch_queues.load(not log.was_clean)
    trusted = _trusted_offset(derived, log, mark)
    marked = max(trusted, mark.dispatched) if log.has_mark else trusted
    if Defect.QUEUE_NOT_CUT_WITH_LOG not in defects:
        derived.truncate_queues_to(marked, not log.was_clean)
    queues_from = index_from = trusted
    with_dead = derived.fingerprint()
    dead = derived.take_dead()
    without = derived.fingerprint()
    # A topic that was being deleted: the mark speaks of the time before or after.
    is_whole = (mark.queue_count, mark.unit_total) in (with_dead[:2], without[:2])
    # Retention removes first files between two marks, and a crash may bring them back. After a
    # clean stop there may be more of them than the mark knows, never fewer.
    if log.was_clean and without.first_total > mark.first_total:
        is_whole = False
    if defects & {Defect.QUEUE_NOT_CUT_WITH_LOG, Defect.MISSING_FILES_UNNOTICED}:
        is_whole = True
    if marked > trusted:
        derived.truncate_queues_to(trusted, not log.was_clean)
        dead += derived.take_dead()
    count, total, index_count, first = derived.fingerprint()
    if log.has_mark and not is_whole:
        derived.clear_queues()
        queues_from, total = log.min_offset, NO_COUNT
    if config.index_enabled:
        derived.index, index_from = _open_index(
            disk, f"{root}/index", config, log, mark, trusted, store_timestamp_at
        )
        index_count = derived.index.unit_count if index_from == trusted else NO_COUNT
    start = max(min(queues_from, index_from), log.min_offset)
    believed = mark._replace(
        dispatched=trusted,
        queue_count=count,
        unit_total=total,
        index_count=index_count,
        first_total=first,
    )
    return DispatchStart(derived, start, queues_from, believed, dead)


def _trusted_offset(derived: DerivedFiles, log: LogState, mark: DurableMark) -> int:
    """Up to which log offset the queues on the disk are complete."""
    if log.has_mark:
        return min(mark.dispatched, log.end_offset)
    if not log.was_clean:
        return log.scan_start
    if derived.queues.fingerprint()[0] == 0:
        return log.min_offset  # removed, perhaps, and the batch queues not
    return min(derived.log_end(), log.end_offset)


def _open_index(
    disk: Disk,
    directory: str,
    config: StorageConfig,
    log: LogState,
    mark: DurableMark,
    trusted: int,
    store_timestamp_at: Callable[[int], int | None],
) -> tuple[KeyIndex, int]:
    """The key index, and the log offset from which it must be fed again."""
    sizes = KeyIndexConfig(config.index_slots, config.index_units)
    try:
        if log.was_clean and log.has_mark:
            index = KeyIndex.open(disk, directory, sizes)
            if index.unit_count == mark.index_count and index.end_offset < max(trusted, 1):
                return index, trusted
            index.close()  # another program went on with it since
        if log.has_mark and mark.index_count != NO_COUNT:
            index = KeyIndex.recover(
                disk,
                directory,
                sizes,
                mark.dispatched,
                mark.index_count,
                store_timestamp_at,
                cut_at=trusted if trusted < mark.dispatched else None,
            )
            return index, trusted
        if log.was_clean and not log.has_mark:
            index = KeyIndex.open(disk, directory, sizes)
            return index, trusted if index.unit_count else log.min_offset
    except CorruptFile:
        # Derived and not as it was synced: nothing is lost that the log does not hold.
        pass
    discard(disk, directory)
    return KeyIndex.open(disk, directory, sizes), log.min_offset
