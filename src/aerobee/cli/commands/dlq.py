"""`aerobee dlq …`: lists, exports and resends dead letters, the messages that groups gave up.

A resent message goes to its group only, or to a topic; it keeps its id, and the dead letter stays
where it is. Messages are chosen by id, time, key, tag and original topic; `--all` chooses all.
"""

import argparse
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, TextIO

from aerobee.cli.cluster_verbs import (
    Verbs,
    add_care,
    add_noun,
    add_verb,
    add_watch,
    agrees,
    asked,
    say,
    show,
)
from aerobee.cli.message_view import message_record, write_messages
from aerobee.cli.moments import read_range
from aerobee.cli.output import FAILED, OK, Record, WrongUse
from aerobee.cli.progress import Progress
from aerobee.errors import AerobeeError, Misuse, NotFound

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin
    from aerobee.model.message import StoredMessage

_EXAMPLES = """\
  aerobee dlq list                                groups that have dead letters
  aerobee dlq show billing --from 2h
  aerobee dlq resend billing C0A8000100002A9F0000000000000F00
  aerobee dlq resend billing --tag created --from 2026-11-15 --dry-run
  aerobee dlq resend billing --all --rate 50      no more than fifty a second
  aerobee dlq export billing --file billing.ndjson
"""
_RATE = 100.0


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "dlq", "dead letters: what groups gave up", _EXAMPLES)
    add_watch(add_verb(verbs, "list", "groups that have dead letters", list_groups))
    showing = add_verb(verbs, "show", "the dead letters of a group", show_letters)
    showing.add_argument("group")
    showing.add_argument("id", nargs="*", help="only these")
    _add_choice(showing)
    showing.add_argument("--limit", type=int, default=64, metavar="N", help="at most (64)")
    sending = add_verb(verbs, "resend", "send dead letters once more, to their group", resend)
    sending.add_argument("group")
    sending.add_argument("id", nargs="*", help="these")
    _add_choice(sending)
    sending.add_argument("--all", action="store_true", help="all that there are")
    sending.add_argument("--to", metavar="TOPIC", default="", help="to a topic, for everybody")
    sending.add_argument(
        "--rate", type=float, default=_RATE, metavar="N", help="at most so many a second (100)"
    )
    add_care(sending)
    exporting = add_verb(verbs, "export", "dead letters as JSON, one a line", export)
    exporting.add_argument("group")
    _add_choice(exporting)
    exporting.add_argument("--file", metavar="FILE", help="into a file (stdout)")
    exporting.set_defaults(id=[])


def list_groups(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        return [
            {"group": group, "dead_letters": await admin.dead_letters.count(group)}
            for group in await admin.dead_letters.groups()
        ]

    return show(parsed, ask, empty="no group has dead letters")


def show_letters(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> "list[StoredMessage]":
        found = []
        async for message in _chosen(admin, parsed):
            found.append(message)
            if len(found) >= parsed.limit:
                break
        return found

    found = asked(parsed, ask)
    _check_found(parsed, found)
    empty = f"{parsed.group} has no such dead letters"
    write_messages(parsed, found, empty=empty, is_one=len(parsed.id) == 1)
    return OK


def resend(parsed: argparse.Namespace) -> int:
    if parsed.rate <= 0:
        raise WrongUse("--rate is more than nothing")
    if not (parsed.id or parsed.all or _is_choosing(parsed)):
        raise WrongUse(
            "which dead letters?", hint="say ids, --from, --key, --tag, --topic or --all"
        )

    async def ids(admin: "Admin", progress: Progress) -> "list[str]":
        found = []
        async for message in _chosen(admin, parsed, progress):
            found.append(message.offset_message_id)
        return found

    with Progress("looked at") as progress:
        found = asked(parsed, lambda admin: ids(admin, progress))
    if not found:
        raise NotFound(f"{parsed.group} has no such dead letters", hint="`aerobee dlq show`")
    where = f"to {parsed.to}" if parsed.to else f"to the group {parsed.group}"
    effect = f"send {len(found)} dead letters again {where}, {parsed.rate:g} a second"
    if parsed.dry_run:
        say(parsed, f"would {effect}", name="would")
        return OK
    if not agrees(parsed, effect):
        return FAILED
    with Progress("sent again", len(found)) as progress:
        asked(parsed, lambda admin: _send_all(admin, parsed, set(found), progress))
    say(parsed, f"{progress.count} dead letters are sent again {where}")
    return OK


def export(parsed: argparse.Namespace) -> int:
    async def write(admin: "Admin", out: TextIO, progress: Progress) -> None:
        async for message in _chosen(admin, parsed):
            record = {"origin": _origin(message), **message_record(message)}
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
            progress.step()

    with Progress("exported") as progress, _opened(parsed.file) as out:
        asked(parsed, lambda admin: write(admin, out, progress))
    if parsed.file:
        say(parsed, f"{progress.count} dead letters are in {parsed.file}")
    return OK


async def _send_all(
    admin: "Admin", parsed: argparse.Namespace, wanted: set[str], progress: Progress
) -> None:
    """Resend the dead letters that existed at the start; new ones are not sent, or it might never
    end."""
    import asyncio

    async for message in _chosen(admin, parsed):
        if message.offset_message_id not in wanted:
            continue
        await asyncio.sleep(progress.count / parsed.rate - progress.seconds)
        try:
            await admin.dead_letters.resend(message, group=parsed.group, topic=parsed.to)
        except AerobeeError as error:
            raise Misuse(
                f"{progress.count} of {len(wanted)} were sent again, then: {error.message}",
                hint=error.hint or f"the next is {message.message_id}",
            ) from error
        progress.step()


async def _chosen(
    admin: "Admin", parsed: argparse.Namespace, progress: Progress | None = None
) -> AsyncIterator["StoredMessage"]:
    """Return the dead letters that the flags choose, oldest first, queue by queue."""
    start, end = read_range(parsed.start, parsed.end, "--until")
    if parsed.group not in await admin.dead_letters.groups():
        raise NotFound(
            f"{parsed.group} has no dead letters", hint="`aerobee dlq list` shows who has"
        )
    async for message in admin.dead_letters.of(parsed.group, start=start, end=end):
        if progress is not None:
            progress.step()
        if (
            (not parsed.id or {message.message_id, message.offset_message_id} & {*parsed.id})
            and (parsed.key is None or parsed.key in message.keys)
            and (parsed.tag is None or parsed.tag == message.tag)
            and (parsed.topic is None or parsed.topic == _origin(message))
        ):
            yield message


def _origin(message: "StoredMessage") -> str:
    from aerobee.client.admin.dead_letters import origin_of

    return origin_of(message)


def _check_found(parsed: argparse.Namespace, found: "list[StoredMessage]") -> None:
    there = {name for one in found for name in (one.message_id, one.offset_message_id)}
    for wanted in parsed.id:
        if wanted not in there:
            raise NotFound(f"{parsed.group} has no dead letter {wanted}", hint="`aerobee dlq show`")


@contextlib.contextmanager
def _opened(path: str | None) -> Iterator[TextIO]:
    if path is None:
        yield sys.stdout
        return
    try:
        with open(path, "x", encoding="utf-8") as file:
            yield file
    except FileExistsError:
        raise Misuse(f"{path} is there already", hint="name another file") from None
    except OSError as error:
        raise Misuse(f"{path} cannot be written: {error.strerror}") from None


def _add_choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from", dest="start", metavar="TIME", help="given up then or later")
    parser.add_argument("--until", dest="end", metavar="TIME", help="given up before")
    parser.add_argument("--key", help="that have this key")
    parser.add_argument("--tag", help="that have this tag")
    parser.add_argument("--topic", help="that were sent to this topic")


def _is_choosing(parsed: argparse.Namespace) -> bool:
    said = (parsed.start, parsed.end, parsed.key, parsed.tag, parsed.topic)
    return any(one is not None for one in said)
