"""`aerobee store …`: reads a store's files while no broker uses them.

The store may be Aerobee's or RocketMQ's, with any settings. Nothing is written: a damaged store
stays as it is. `verify` exits with 4 if something is damaged, and prints where.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import Verbs, add_local_verb, add_noun, write_shown
from aerobee.cli.message_view import message_record
from aerobee.cli.moments import shown_ms
from aerobee.cli.output import (
    NOT_FOUND,
    OK,
    TABLE,
    UNHEALTHY,
    Record,
    WrongUse,
    width_of,
    write_report,
)
from aerobee.cli.progress import Progress
from aerobee.errors import NotFound

if TYPE_CHECKING:
    from aerobee.app.offline.index_walk import IndexWalk
    from aerobee.app.offline.log_walk import FoundRecord
    from aerobee.app.offline.store_folder import QueueFolder, StoreFolder
    from aerobee.model.message import StoredMessage

_EXAMPLES = """\
  aerobee store info data/store                   what is in it
  aerobee store log data/store --limit 20         the log, record after record
  aerobee store queue data/store                  every queue
  aerobee store queue data/store --topic orders --queue 0
  aerobee store index data/store --topic orders --key o-1
  aerobee store verify data/store                 everything, and where it is damaged
  aerobee store dump data/store --topic orders > orders.ndjson
"""
_LIMIT = 100


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "store", "a store's files, while no broker has them", _EXAMPLES)
    for name, text, verb in (
        ("info", "what is in a store", show_info),
        ("log", "the log, record after record", show_log),
        ("queue", "its queues, or the units of one", show_queue),
        ("index", "files of the key index, or where a key is", show_index),
        ("verify", "look at everything; status 4 if something is damaged", verify),
        ("dump", "messages as JSON, one a line, as the log has them", dump),
    ):
        parser = add_local_verb(verbs, name, text, verb)
        parser.add_argument("folder", help="the store: the folder that has `commitlog`")
        if name in ("log", "dump", "queue", "index"):
            parser.add_argument("--topic", help="of this topic only")
        if name == "queue":
            parser.add_argument("--queue", type=int, metavar="N", help="the units of this one")
        if name == "index":
            parser.add_argument("--key", help="records that may have it; needs --topic")
        if name in ("log", "dump"):
            parser.add_argument("--from", dest="start", type=int, metavar="LOG_OFFSET")
        if name in ("log", "queue"):
            parser.add_argument(
                "--limit", type=int, default=_LIMIT, metavar="N", help=f"at most ({_LIMIT})"
            )
        if name == "dump":
            parser.add_argument("--limit", type=int, metavar="N", help="at most (all)")


@contextmanager
def _opened(parsed: argparse.Namespace) -> "Iterator[StoreFolder]":
    from aerobee.app.offline.store_folder import open_store

    with open_store(parsed.folder) as folder:
        yield folder


def show_info(parsed: argparse.Namespace) -> int:
    with _opened(parsed) as folder:
        mark = folder.mark()
        queues = folder.queues()
        report: dict[str, object] = {
            "folder": folder.root,
            "log_start": folder.log_start,
            "log_files": len(folder.log),
            "log_file_bytes": folder.log[0].size if folder.log else None,
            "flushed_to": mark.flushed if mark else None,
            "dispatched_to": mark.dispatched if mark else None,
            "topics": len({queue.topic for queue in queues}),
            "queues": len(queues),
            "index_files": len(folder.index_paths()),
            "was_stopped_in_order": not folder.is_aborted(),
        }
    write_report(report, parsed.output, sys.stdout, width=width_of(sys.stdout, is_wide=parsed.wide))
    return OK


def show_log(parsed: argparse.Namespace) -> int:
    with _opened(parsed) as folder:
        records = [
            {
                "log_offset": message.log_offset,
                "size": message.store_size,
                "topic": message.topic,
                "queue": message.queue_id,
                "offset": message.queue_offset,
                "stored": shown_ms(message.store_timestamp),
                "tag": message.tag,
                "keys": list(message.keys),
                "id": message.message_id,
            }
            for message in islice(_messages(folder, parsed), parsed.limit)
        ]
    write_shown(parsed, records, empty="the log has no such record")
    return OK


def show_queue(parsed: argparse.Namespace) -> int:
    from aerobee.app.offline.queue_walk import units_of

    if parsed.queue is not None and parsed.topic is None:
        raise WrongUse("a queue of which topic?", hint="say --topic, too")
    with _opened(parsed) as folder:
        queues = folder.queues(parsed.topic, parsed.queue)
        if not queues and parsed.topic is not None:
            raise NotFound(
                f"the store has no such queue of {parsed.topic}",
                hint=f"`aerobee store queue {parsed.folder}` lists all",
            )
        if parsed.queue is None:
            records = [_queue_record(folder, queue) for queue in queues]
        else:
            records = [
                {
                    "offset": unit.queue_offset,
                    "log_offset": unit.log_offset,
                    "size": unit.size,
                    "code": unit.code,
                    "messages": unit.message_count,
                }
                for unit in islice(units_of(queues[0]), parsed.limit)
            ]
    write_shown(parsed, records, empty="nothing was ever put into it")
    return OK


def show_index(parsed: argparse.Namespace) -> int:
    from aerobee.app.offline.index_walk import IndexWalk

    if (parsed.key is None) != (parsed.topic is None):
        raise WrongUse("which key of which topic?", hint="say both, --topic and --key")
    with _opened(parsed) as folder:
        walks = [IndexWalk(path) for path in folder.index_paths()]
        if parsed.key is not None:
            records = _keyed(folder, walks, parsed.topic, parsed.key)
            write_shown(parsed, records, empty=f"no record of {parsed.topic} has {parsed.key}")
            return OK if records else NOT_FOUND
        records = [
            {
                "file": walk.name,
                "keys": walk.unit_count,
                "slots": walk.slots,
                "from": shown_ms(walk.header.begin_ms),
                "to": shown_ms(walk.header.end_ms),
                "log_from": walk.header.begin_offset,
                "log_to": walk.header.end_offset,
            }
            for walk in walks
            if walk.header is not None
        ]
    write_shown(parsed, records, empty="it has no index")
    return OK


def verify(parsed: argparse.Namespace) -> int:
    from aerobee.app.offline.verification import DAMAGE, Verification

    with _opened(parsed) as folder, Progress("looked at") as progress:
        verification = Verification(folder, progress.step)
        found = list(verification.findings())
    damages = sum(one.kind == DAMAGE for one in found)
    records: list[Record] = [
        {"kind": one.kind, "path": one.path, "position": one.position, "what": one.what}
        for one in found
    ]
    if parsed.output != TABLE:
        write_shown(parsed, records)
    else:
        if records:
            write_shown(parsed, records)
        print(
            f"{verification.records} records up to log offset {verification.log_end}, "
            f"{verification.units} units in {verification.queues} queues, "
            f"{verification.keys} keys: {damages or 'no'} damage{'s' if damages > 1 else ''}"
        )
    return UNHEALTHY if damages else OK


def dump(parsed: argparse.Namespace) -> int:
    with _opened(parsed) as folder, Progress("dumped") as progress:
        for message in islice(_messages(folder, parsed), parsed.limit):
            record = {"log_offset": message.log_offset, **message_record(message)}
            sys.stdout.write(json.dumps(record, ensure_ascii=False) + "\n")
            progress.step()
    if parsed.topic is not None and not progress.count:
        raise NotFound(
            f"the log has no such record of {parsed.topic}",
            hint=f"`aerobee store queue {parsed.folder}` lists all topics",
        )
    return OK


def _messages(folder: "StoreFolder", parsed: argparse.Namespace) -> "Iterator[StoredMessage]":
    """Yield the sound records of the log; damage is reported on stderr."""
    from aerobee.app.offline.log_walk import Damage, LogWalk

    for found in LogWalk(folder, parsed.start):
        if isinstance(found, Damage):
            kind = "torn tail" if found.is_tail else "damage"
            print(
                f"aerobee: {kind}: {found.reason} at log offset {found.log_offset}, "
                f"{found.size} bytes ({found.path} at byte {found.position})",
                file=sys.stderr,
            )
        elif parsed.topic is None or found.topic == parsed.topic:
            yield _decoded(found)


def _decoded(found: "FoundRecord") -> "StoredMessage":
    from aerobee.protocol.message.stored_message import decode_record, expanded

    end = found.position + found.record.size
    return expanded(decode_record(bytes(found.file.view[found.position : end])))


def _queue_record(folder: "StoreFolder", queue: "QueueFolder") -> Record:
    from aerobee.app.offline.queue_walk import units_of

    first = last = None
    count = 0
    for unit in units_of(queue):
        if unit.log_offset < folder.log_start:
            continue  # its record is gone
        first = unit if first is None else first
        last = unit
        count += unit.message_count
    return {
        "topic": queue.topic,
        "queue": queue.queue_id,
        "first": first.queue_offset if first else None,
        "next": last.queue_offset + last.message_count if last else None,
        "messages": count,
        "kind": "batches" if queue.is_batch else "messages",
    }


def _keyed(folder: "StoreFolder", walks: "list[IndexWalk]", topic: str, key: str) -> list[Record]:
    """Return the records that have a key, newest first; hash collisions are left out."""
    from aerobee.app.offline.log_walk import FoundRecord, LogWalk

    reading = LogWalk(folder)
    records: list[Record] = []
    for walk in reversed(walks):
        for unit in walk.find(topic, key):
            file = folder.find(unit.log_offset)
            if file is None or reading.reason_at(file, unit.log_offset - file.first) is not None:
                continue
            message = _decoded(FoundRecord(file, unit.log_offset - file.first, reading.record))
            if message.topic == topic and key in (*message.keys, message.unique_id):
                records.append(
                    {
                        "id": message.message_id,
                        "log_offset": unit.log_offset,
                        "queue": message.queue_id,
                        "offset": message.queue_offset,
                        "stored": shown_ms(message.store_timestamp),
                        "tag": message.tag,
                    }
                )
    return records
