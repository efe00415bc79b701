"""`aerobee transaction …`: lists open transactions, and ends one by hand.

To commit a transaction that its producer would have rolled back, or the other way round, cannot be
undone: it is confirmed first. Only Aerobee's brokers can list open transactions.
"""

import argparse
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import (
    Verbs,
    add_care,
    add_noun,
    add_verb,
    add_watch,
    add_where,
    asked,
    do_with_care,
    show,
)
from aerobee.cli.message_view import write_messages
from aerobee.cli.moments import shown_ms
from aerobee.cli.output import OK, Record, Whole
from aerobee.errors import NotFound

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin
    from aerobee.client.admin.fan_out import Where
    from aerobee.client.admin.transactions import HeldTransaction
    from aerobee.model.message import StoredMessage

_EXAMPLES = """\
  aerobee transaction list                        what is open
  aerobee transaction list --group order-tx --watch
  aerobee transaction commit C0A8000100002A9F0000000000000F00
  aerobee transaction rollback C0A8000100002A9F0000000000000F00 --dry-run
  aerobee transaction list --given-up             which brokers no longer ask about
  aerobee transaction resume C0A8000100002A9F0000000000000F00   ask again
"""


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "transaction", "transactions that are open, ended by hand", _EXAMPLES)
    listing = add_verb(verbs, "list", "what is open, the oldest first", list_open)
    listing.add_argument("--group", default="", help="of this producer group only")
    listing.add_argument(
        "--given-up", action="store_true", help="those that are asked about no more"
    )
    add_where(listing)
    add_watch(listing)
    for name, text in (
        ("commit", "let everybody see the message"),
        ("rollback", "let nobody ever see the message"),
    ):
        parser = add_verb(verbs, name, text, end)
        parser.add_argument("id", help="the sender's or the broker's")
        parser.set_defaults(is_commit=name == "commit")
        add_where(parser)
        add_care(parser)
    resuming = add_verb(verbs, "resume", "have producers asked again about one given up", resume)
    resuming.add_argument("id", help="the sender's or the broker's")
    add_care(resuming)


def list_open(parsed: argparse.Namespace) -> int:
    if parsed.given_up:
        found = asked(parsed, lambda admin: _given_up(admin, parsed.on))
        write_messages(parsed, found, empty="none was given up")
        return OK

    async def ask(admin: "Admin") -> list[Record]:
        held = [one async for one in admin.transactions.open(group=parsed.group, on=parsed.on)]
        held.sort(key=lambda one: one.facts.store_timestamp)
        return [_record(one) for one in held]

    return show(parsed, ask, empty="no transaction is open")


def end(parsed: argparse.Namespace) -> int:
    held = asked(parsed, lambda admin: _find(admin, parsed))
    verb, done = ("commit", "committed") if parsed.is_commit else ("roll back", "rolled back")

    async def act(admin: "Admin") -> None:
        if parsed.is_commit:
            await admin.transactions.commit(held)
        else:
            await admin.transactions.rollback(held)

    facts = held.facts
    effect = f"{verb} {facts.message_id} of the group {facts.group} to {facts.topic}"
    return do_with_care(parsed, act, effect, f"{facts.message_id} is {done}")


def resume(parsed: argparse.Namespace) -> int:
    found = asked(parsed, _given_up)
    names = {message.offset_message_id: message for message in found}
    names.update({message.message_id: message for message in found})
    if parsed.id not in names:
        raise NotFound(
            f"no transaction {parsed.id} was given up", hint="`aerobee transaction list --given-up`"
        )
    message = names[parsed.id]

    async def act(admin: "Admin") -> None:
        await admin.transactions.check_again(message.offset_message_id)

    effect = f"have its producers asked again about {message.message_id}"
    return do_with_care(parsed, act, effect, f"{message.message_id} is asked about again")


async def _find(admin: "Admin", parsed: argparse.Namespace) -> "HeldTransaction":
    async for held in admin.transactions.open(on=parsed.on):
        if parsed.id in (held.facts.message_id, held.facts.offset_message_id):
            return held
    raise NotFound(
        f"no transaction {parsed.id} is open",
        hint="it may have ended; `aerobee transaction list` shows what is open",
    )


async def _given_up(admin: "Admin", on: "Where" = None) -> "list[StoredMessage]":
    return [message async for message in admin.transactions.given_up(on=on)]


def _record(held: "HeldTransaction") -> Record:
    facts = held.facts
    return {
        "id": Whole(facts.message_id),
        "topic": facts.topic,
        "group": facts.group,
        "begun": shown_ms(facts.store_timestamp),
        "checks": facts.check_times,
        "next_check_ms": facts.next_check_ms if facts.next_check_ms >= 0 else None,
        "is_group_online": facts.is_group_online,
        "broker": held.broker,
        "queue": facts.queue_id,
        "offset_id": facts.offset_message_id,
    }
