"""`aerobee broker convert`: makes the store of a single broker that of a Raft group's first member,
and the reverse.

The store must not be in use. It says what it would do (`--dry-run`), asks, does it, and prints what
to write into the configuration.
"""

import argparse
import contextlib
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import Verbs, add_care, add_local_verb, agrees, say, write_shown
from aerobee.cli.commands.broker_members import NewMember, read_new
from aerobee.cli.output import FAILED, OK, TABLE, WrongUse

if TYPE_CHECKING:
    from aerobee.app.conversion.conversion import Conversion
    from aerobee.app.conversion.store_facts import StoreFacts

EXAMPLES = """\
  aerobee broker convert data/store --to group --member n0-h0:40911 --dry-run
  aerobee broker convert data/store --to single   the last member of a group is a broker like others
"""
_GROUP, _SINGLE = "group", "single"
_DIAL_SECONDS = 2.0


def add_convert(verbs: Verbs) -> None:
    parser = add_local_verb(
        verbs, "convert", "a single broker's store into a group's, and the reverse", convert_store
    )
    parser.add_argument("store", help="the store: the folder that has `commitlog`")
    parser.add_argument("--to", choices=(_GROUP, _SINGLE), required=True)
    parser.add_argument(
        "--member",
        metavar="MEMBER",
        type=read_new,
        help="of a group: which member it is, and where others reach it: n0-10.0.0.1:40911",
    )
    parser.add_argument(
        "--survivor",
        action="store_true",
        help="of a group: go on alone, because the other members are gone for good",
    )
    add_care(parser)


def convert_store(parsed: argparse.Namespace) -> int:
    from aerobee.app.conversion.conversion import convert
    from aerobee.app.conversion.store_facts import held_store

    if parsed.to == _GROUP and parsed.member is None:
        raise WrongUse(
            "which member is it?",
            hint="say its name and where others reach it: --member n0-10.0.0.1:40911",
        )
    if parsed.to == _SINGLE and (parsed.member is not None or parsed.survivor):
        raise WrongUse("--member and --survivor are for --to group")
    with held_store(parsed.store) as facts:
        plan = _plan(parsed, facts)
        if parsed.dry_run:
            say(parsed, f"would {plan.effect}", name="would")
            _show_settings(parsed, plan)
            return OK
        if not agrees(parsed, plan.effect):
            return FAILED
        convert(facts, plan)
    say(parsed, f"done; its configuration must say, before {parsed.store} is used again:")
    _show_settings(parsed, plan)
    return OK


def _plan(parsed: argparse.Namespace, facts: "StoreFacts") -> "Conversion":
    from aerobee.app.conversion.conversion import (
        others_in,
        plan_group,
        plan_single,
        plan_survivor,
    )

    new: NewMember | None = parsed.member
    answering = _answering(others_in(facts, None if new is None else new.node))
    if new is None:
        return plan_single(facts, answering)
    if parsed.survivor:
        return plan_survivor(facts, *new, answering)
    return plan_group(facts, *new)


def _answering(addresses: Sequence[str]) -> list[str]:
    """The addresses at which somebody listens."""
    found = []
    for address in addresses:
        host, _, port = address.rpartition(":")
        with contextlib.suppress(OSError):
            socket.create_connection((host.strip("[]"), int(port)), _DIAL_SECONDS).close()
            found.append(address)
    return found


def _show_settings(parsed: argparse.Namespace, plan: "Conversion") -> None:
    if parsed.output != TABLE:
        write_shown(parsed, [{"setting": key, "value": text} for key, text in _rows(plan)])
        return
    for key, text in plan.settings.items():
        print(f"{key}={text}")
    print(f"# and nothing of {', '.join(plan.dropped)}")


def _rows(plan: "Conversion") -> list[tuple[str, str | None]]:
    return [*plan.settings.items(), *((key, None) for key in plan.dropped)]
