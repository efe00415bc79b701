"""Commit logs made of messages, file by file as brokers write them, for tests that read them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset
from aerobee.pipeline.log_table.log_files import USUAL_REACH, Reach
from aerobee.pipeline.log_table.log_options import log_options
from aerobee.pipeline.log_table.log_planning import plan_log
from aerobee.pipeline.log_table.log_reader import read_part
from aerobee.protocol.message.record import FILLER_BYTES, MAGIC_FILLER
from aerobee.protocol.message.stored_message import encode_record

FILE_BYTES = 4096


def message(number: int, body: bytes = b"body", **fields: Any) -> StoredMessage:
    """Stored at `number` ms, as offset `number` of its queue."""
    return replace(
        StoredMessage(
            topic="t",
            queue_id=QueueId(0),
            queue_offset=QueueOffset(number),
            log_offset=LogOffset(0),
            body=body,
            properties={"TAGS": "a"},
            born_timestamp=1,
            born_host=Host("127.0.0.1", 1),
            store_timestamp=number,
            store_host=Host("127.0.0.1", 10911),
        ),
        **fields,
    )


def filler(left: int) -> bytes:
    head = left.to_bytes(4, "big") + MAGIC_FILLER.to_bytes(4, "big", signed=True)
    return head + bytes(left - FILLER_BYTES)


class Log:
    """What was written: the folder, and where each record is in the log."""

    def __init__(
        self, folder: Path, messages: Sequence[StoredMessage], file_bytes: int = FILE_BYTES
    ) -> None:
        self.folder = folder
        self.file_bytes = file_bytes
        self.places: list[tuple[int, int]] = []
        """[start, end) of each record."""
        (folder / "commitlog").mkdir(parents=True)
        data = bytearray()
        for one in messages:
            room = file_bytes - len(data) % file_bytes
            record = encode_record(replace(one, log_offset=LogOffset(len(data))), with_crc=True)
            if len(record) + FILLER_BYTES > room:
                data += filler(room)
                record = encode_record(replace(one, log_offset=LogOffset(len(data))), with_crc=True)
            self.places.append((len(data), len(data) + len(record)))
            data += record
        self.end = len(data)
        for base in range(0, max(1, len(data)), file_bytes):
            whole = bytes(data[base : base + file_bytes]).ljust(file_bytes, b"\0")
            self.path(base).write_bytes(whole)

    def path(self, log_offset: int) -> Path:
        """The file that has this place."""
        base = log_offset - log_offset % self.file_bytes
        return self.folder / "commitlog" / f"{base:020}"

    def put(self, log_offset: int, data: bytes) -> bytes:
        """Write over what is there; what was."""
        path = self.path(log_offset)
        content = bytearray(path.read_bytes())
        at = log_offset % self.file_bytes
        before = bytes(content[at : at + len(data)])
        content[at : at + len(data)] = data
        path.write_bytes(content)
        return before


def rows(folder: Path, *, reach: Reach = USUAL_REACH, **options: str) -> list[dict[str, Any]]:
    """The table of a log: as Spark would read it, part after part."""
    read = log_options({"path": str(folder), **options})
    return [
        row
        for part in plan_log(read, 1, reach)
        for batch in read_part(read, part, reach)
        for row in batch.to_pylist()
    ]
