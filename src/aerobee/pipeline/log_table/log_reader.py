"""The reader in an executor: turns a part of a commit log into Arrow batches, and reports damage.

A task's memory is one batch and a piece of a file, however large its part is. Every record is
checked. Damage is an error with its log offset or, with onDamage=report, a row of its own: all its
columns are null but `logOffset` (its start), `damagedBytes` and `damage` (a description).
"""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pyarrow as pa

from aerobee.pipeline.arrow.arrow_batches import arrow_schema, finish_batch
from aerobee.pipeline.arrow.message_columns import MessageColumns
from aerobee.pipeline.arrow.schema import LOG_OFFSET
from aerobee.pipeline.arrow.unpacked_rows import unpacked_rows
from aerobee.pipeline.log_table.log_files import USUAL_REACH, DamagedLog, Reach, Window
from aerobee.pipeline.log_table.log_options import DAMAGE, DAMAGED_BYTES, LogOptions
from aerobee.pipeline.log_table.log_planning import LogPart
from aerobee.pipeline.log_table.log_steps import DAMAGED, LogSteps, stepping
from aerobee.pipeline.log_table.log_walk import FULL, SPECIAL, LogTableWalk

BATCH_BYTES_MAX = 64 << 20


def read_part(options: LogOptions, part: LogPart, reach: Reach = USUAL_REACH) -> Iterator[Any]:
    """Yield the messages of a part, as record batches."""
    return _PartReader(options, reach).batches(part)


class _PartReader:
    def __init__(self, options: LogOptions, reach: Reach) -> None:
        self._options = options
        self._reach = reach
        self._columns = MessageColumns(options.schema.wanted, options.rows_max, BATCH_BYTES_MAX)
        self._walk = LogTableWalk(
            self._columns, options.topics, options.time_start_ms, options.time_end_ms
        )
        self._schema = arrow_schema(options.schema)
        if options.reports_damage:
            self._schema = self._schema.append(pa.field(DAMAGED_BYTES, pa.int64()))
            self._schema = self._schema.append(pa.field(DAMAGE, pa.string()))

    def batches(self, part: LogPart) -> Iterator[Any]:
        for gap in part.gaps:
            yield self._damaged(gap.start, gap.end, gap.what, "the log")
        for file in part.files:
            with closing(Window(file, self._reach)) as window:
                yield from self._of_file(LogSteps(window, self._walk), window, part)
        if self._columns.rows:
            yield self._finished()

    def _of_file(self, steps: LogSteps, window: Window, part: LogPart) -> Iterator[Any]:
        file = window.file
        end = min(part.end - file.base, file.limit)
        position = max(part.start - file.base, 0)
        if position:
            position = stepping(window).first_from(position)
        while position < end:
            came_to = steps.run(position, end)
            position = steps.position
            if came_to == FULL:
                yield self._finished()
            elif came_to == SPECIAL:
                size = self._walk.record_size
                at = window.cover(position, size)
                for row in unpacked_rows(bytes(window.view[at : at + size])):
                    self._columns.add(row)
                    if self._columns.is_full():
                        yield self._finished()
                position += size
            elif came_to == DAMAGED:
                what = steps.what
                after = steps.next_sound(position + 1)
                yield self._damaged(file.base + position, file.base + after, what, file.path)
                position = after
            else:
                return

    def _finished(self) -> Any:
        batch = finish_batch(self._columns, self._options.schema, self._options.broker_name)
        if not self._options.reports_damage:
            return batch
        nothing = [pa.nulls(batch.num_rows, pa.int64()), pa.nulls(batch.num_rows, pa.string())]
        return pa.RecordBatch.from_arrays([*batch.columns, *nothing], schema=self._schema)

    def _damaged(self, start: int, end: int, what: str, where: str) -> Any:
        if not self._options.reports_damage:
            raise DamagedLog(
                f"log offsets [{start}, {end}) cannot be read: {what}, in {where}",
                hint="restore the file from a replica or a backup; "
                "onDamage=report reads the rest, with a row for each damaged range",
            )
        values = {LOG_OFFSET: start, DAMAGED_BYTES: end - start, DAMAGE: what}
        row = {name: values.get(name) for name in self._schema.names}
        return pa.RecordBatch.from_pylist([row], schema=self._schema)
