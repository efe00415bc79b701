"""Fits the state files of a broker that starts as a slave to its log.

They are of its own time as master, or of an earlier copy, and may speak of records that this log
does not have: it was cut where it parted from the master's. Records of the master come in their
place, and a later start as master would take those for done. So, before the log grows:

    timercheck                wheel and log of the timer are not used again: unsealed, and its queue
                              offset cut to the end of the queue
    delayOffset.json          cut to the ends of the queues; how far it goes back when what was
                              delivered is cut: `state.progress_marks`
    producerSequences.json    removed if it is ahead of the log, from which it is built again
    stagedRounds.json         without rounds that are to be published of batches behind the end

Blocks on the disk: it is called once, at the start. CorruptFile: a file and its backup are damaged.
"""

from collections.abc import Mapping

from aerobee.errors import CorruptFile, ProtocolError
from aerobee.model.names import SCHEDULE_TOPIC, TIMER_TOPIC
from aerobee.model.topic import DataVersion
from aerobee.ports.disk import Disk
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Key, Parsed, Value
from aerobee.service.broker.state.delay_offsets import delay_offsets_from
from aerobee.storage.metadata.config_file import BACKUP_SUFFIX, ConfigFile
from aerobee.storage.store import Store
from aerobee.storage.timer.timer_checkpoint import (
    Seal,
    TimerCheck,
    check_path,
    copied_check,
    decode_check,
    encode_check,
    version_of,
)


def fit_to_log(store: Store, disk: Disk) -> None:
    """Fit the files in the directory of an open store."""
    _fit_timer(store, disk)
    _fit_delays(store, disk)
    _fit_sequences(store, disk)
    _fit_rounds(store, disk)


def timer_version(store: Store, disk: Disk) -> DataVersion:
    """The version of the timer's checkpoint."""
    found = find_timer_check(store, disk)
    return DataVersion() if found is None else version_of(found[0])


def _fit_timer(store: Store, disk: Disk) -> None:
    found = find_timer_check(store, disk)
    if found is None:
        return
    check, seal = found
    fitted = copied_check(check, _end_of(store, TIMER_TOPIC, 0))
    if seal is not None or fitted != check:
        disk.replace(check_path(store.root), encode_check(fitted, None))


def find_timer_check(store: Store, disk: Disk) -> tuple[TimerCheck, Seal | None] | None:
    """The checkpoint of the timer in the file, and its seal."""
    path = check_path(store.root)
    return decode_check(disk.read(path)) if disk.exists(path) else None


def _fit_delays(store: Store, disk: Disk) -> None:
    file = _config_file(store, disk, "delayOffset.json")
    loaded = file.load()
    if loaded is None:
        return
    try:
        saved = delay_offsets_from(Members(loaded.value, file.path))
    except ProtocolError as error:
        raise CorruptFile(error.message, path=file.path) from None
    fitted = {
        level: min(offset, _end_of(store, SCHEDULE_TOPIC, level - 1))
        for level, offset in saved.offsets.items()
    }
    if fitted != saved.offsets:
        file.store_text(saved._replace(offsets=fitted).text())


def _fit_sequences(store: Store, disk: Disk) -> None:
    file = _config_file(store, disk, "producerSequences.json")
    try:
        loaded = file.load()
        if loaded is None:
            return
        log_offset = Members(loaded.value, file.path).int64("logOffset")
        is_ahead = log_offset > store.end_offset
    except (CorruptFile, ProtocolError):
        is_ahead = True
    if is_ahead:
        for path in (file.path + BACKUP_SUFFIX, file.path):
            if disk.exists(path):
                disk.remove(path)


def _fit_rounds(store: Store, disk: Disk) -> None:
    file = _config_file(store, disk, "stagedRounds.json")
    loaded = file.load()
    if loaded is None:
        return
    try:
        writes = Members(loaded.value, file.path).object("writes").plain()
        kept = {name: one for name, one in writes.items() if not _is_ahead(one, store.end_offset)}
    except ProtocolError as error:
        raise CorruptFile(error.message, path=file.path) from None
    if len(kept) < len(writes):
        file.store({"writes": _as_value(kept)})


def _is_ahead(decision: Parsed, end_offset: int) -> bool:
    """Whether a round that is not done has a batch behind the end of the log."""
    places = Members(decision, "a round").array("places")
    return any(isinstance(place, int) and place >= end_offset for place in places)


def _as_value(members: Mapping[Key, Parsed]) -> Value:
    return {str(name): value for name, value in members.items()}


def _config_file(store: Store, disk: Disk, name: str) -> ConfigFile:
    return ConfigFile(disk, f"{store.root}/config/{name}")


def _end_of(store: Store, topic: str, queue_id: int) -> int:
    queue = store.queue(topic.encode(), queue_id)
    return queue.max_offset if queue is not None else 0
