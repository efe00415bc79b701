"""Planning of a log table: divides a commit log into parts, one for each task. Knows no Spark.

The log's end is determined once, here: records that are complete now are read, later ones are not.
Of a log that others have copies of, only what is confirmed is read (`log_commit`).
Files that were allocated ahead and are empty are left out, and so are files outside the wanted time
range, judged by the store times of first records, as brokers search for a time, too.

Parts are equal numbers of bytes, regardless of records; `log_steps` finds the first record of a
part. A missing file, or the missing rest of a file that was copied half, is a gap; the part that it
begins in reports it.
"""

import logging
from collections.abc import Sequence
from contextlib import closing
from itertools import pairwise
from typing import NamedTuple

from aerobee.errors import Misuse
from aerobee.pipeline.log_table.log_commit import confirmed_end
from aerobee.pipeline.log_table.log_files import (
    USUAL_REACH,
    LogFile,
    Reach,
    Window,
    files_of,
    folder_of,
)
from aerobee.pipeline.log_table.log_options import LogOptions
from aerobee.pipeline.log_table.log_steps import stepping
from aerobee.pipeline.log_table.log_walk import ALWAYS_MS

_log = logging.getLogger(__name__)

PART_BYTES_MIN = 1 << 20
"""Less is not worth a task."""


class Gap(NamedTuple):
    """[start, end) of the log is missing."""

    start: int
    end: int
    what: str


class LogPart(NamedTuple):
    """[start, end) of the log: the records that begin there."""

    start: int
    end: int
    files: tuple[LogFile, ...]
    gaps: tuple[Gap, ...]


def plan_log(options: LogOptions, cores: int, reach: Reach = USUAL_REACH) -> list[LogPart]:
    """Return the parts of the wanted range of a log; none if it is empty."""
    # Before the files are looked at: what is confirmed then is in them.
    confirmed = confirmed_end(folder_of(options.path), fails=not options.reports_damage)
    files, torn = _used(files_of(options.path), reach)
    if confirmed is not None:
        files = _bounded(files, confirmed)
        torn = torn if torn and torn.start < confirmed else None
    gaps = [*_gaps(files), *([torn] if torn and options.reports_damage else [])]
    files = _of_time(files, options.time_start_ms, options.time_end_ms)
    files = [
        file for file in files if file.base < options.end and file.base + file.limit > options.start
    ]
    if not files:
        return [LogPart(gap.start, gap.end, (), (gap,)) for gap in gaps if gap == torn]
    start = max(options.start, files[0].base)
    end = min(options.end, files[-1].base + files[-1].limit)
    if end < options.end and any(gap.start == end for gap in gaps):
        end += 1  # the last part has what is missing behind it
    total = end - start
    least = max(options.partitions_min, -(-total // options.partition_bytes))
    count = max(least, min(cores, total // PART_BYTES_MIN), 1)
    if count > cores and total // PART_BYTES_MIN > count:
        count += -count % cores  # or most cores would wait for the last part
    places = [start + total * index // count for index in range(count + 1)]
    return [_part(first, last, files, gaps) for first, last in pairwise(places) if first < last]


def _part(start: int, end: int, files: Sequence[LogFile], gaps: Sequence[Gap]) -> LogPart:
    return LogPart(
        start,
        end,
        tuple(file for file in files if file.base < end and file.base + file.limit > start),
        tuple(gap for gap in gaps if start <= gap.start < end),
    )


def _used(files: list[LogFile], reach: Reach) -> tuple[list[LogFile], Gap | None]:
    """Return the files that hold records, the last of them up to the log's end; and the torn bytes
    there."""
    while files:
        last = files.pop()
        with closing(Window(last, reach)) as window:
            found = stepping(window).log_end()
            window.let_go(found.torn)
        if not found.torn:
            continue
        ended = [*files, last._replace(limit=found.end)]
        if found.torn == found.end:
            return ended, None
        start, end = last.base + found.end, last.base + found.torn
        what = "a record that is not whole, at the end of the log"
        _log.warning("%s: %s, at log offset %d", last.path, what, start)
        return ended, Gap(start, end, what)
    return [], None


def _bounded(files: Sequence[LogFile], end: int) -> list[LogFile]:
    """Leave out what is at or behind a log offset."""
    return [
        file._replace(limit=min(file.limit, end - file.base)) for file in files if file.base < end
    ]


def _gaps(files: Sequence[LogFile]) -> list[Gap]:
    found = []
    for file, following in pairwise(files):
        end = file.base + file.size
        if end > following.base:
            raise Misuse(
                f"{file.path} is longer than the file behind it allows",
                hint="are these the files of one log?",
            )
        if end < following.base:
            found.append(Gap(end, following.base, "no file has it"))
    return found


def _of_time(files: Sequence[LogFile], start_ms: int, end_ms: int) -> list[LogFile]:
    """Leave out the files that are wholly before or after a range of store times."""
    if start_ms == 0 and end_ms == ALWAYS_MS:
        return list(files)
    firsts = [_first_time(file) for file in files]
    found = []
    for index, file in enumerate(files):
        first = firsts[index]
        if first is not None and first >= end_ms:
            break
        following = firsts[index + 1] if index + 1 < len(files) else None
        if following is None or following >= start_ms:
            found.append(file)
    return found


def _first_time(file: LogFile) -> int | None:
    """Return the store time of a file's first record; None if that is not sound."""
    with closing(Window(file)) as window:
        steps = stepping(window)
        steps.run(0, 1)
        return steps.walk.store_timestamp if steps.position else None
