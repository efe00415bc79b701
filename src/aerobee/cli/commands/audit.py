"""`aerobee audit …`: reads the audit trail of a broker or a name server from its files.

The files are on the machine of the server, and readable by its user alone; no request asks for
them over the network, so whoever may read them is decided by that machine.
"""

import argparse
import contextlib
import os
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

from aerobee.cli.cluster_verbs import Verbs, add_local_verb, add_noun, whole_from, write_shown
from aerobee.cli.moments import read_range
from aerobee.cli.output import NDJSON, OK, Record, Whole, WrongUse
from aerobee.ports.audit import ALLOWED, DENIED

if TYPE_CHECKING:
    from aerobee.app.audit_folder import Wanted

_EXAMPLES = """\
  aerobee audit tail --dir ~/store/audit                   the last events of a broker
  aerobee audit tail --dir ~/store/audit --follow          and those that come
  aerobee audit search --dir ~/store/audit --decision deny --from 2h
  aerobee audit search --dir ~/store/audit --user alice --request DELETE --resource Topic:orders
"""
_LOOK_SECONDS = 0.5
FOLDER = "~/store/audit"


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "audit", "who was refused, and who changed what", _EXAMPLES)
    tailing = add_local_verb(verbs, "tail", "the last events", tail)
    tailing.add_argument("--count", type=whole_from(1), default=20, metavar="N", help="(20)")
    tailing.add_argument(
        "-f", "--follow", action="store_true", help="go on, a line of JSON each, until Ctrl-C"
    )
    searching = add_local_verb(verbs, "search", "events by user, address, request, time", search)
    for parser in (tailing, searching):
        parser.add_argument(
            "--dir", default=FOLDER, help=f"the folder of the server's files ({FOLDER})"
        )
        parser.add_argument("--user", default="", help="of this user")
        parser.add_argument("--source", default="", metavar="ADDRESS", help="from this address")
        parser.add_argument("--request", default="", help="a part of its name, such as DELETE")
        parser.add_argument(
            "--resource", default="", metavar="TEXT", help="about this: Topic:orders"
        )
        parser.add_argument("--decision", default="", choices=(ALLOWED, DENIED))
    searching.add_argument("--from", dest="start", metavar="TIME", help="from then on: 2h, a time")
    searching.add_argument("--to", dest="end", metavar="TIME", help="before then")


def tail(parsed: argparse.Namespace) -> int:
    from aerobee.app.audit_folder import Follower, last_lines

    folder, wanted = _folder(parsed), _wanted(parsed)
    if not parsed.follow:
        write_shown(parsed, [_record(one) for one in last_lines(folder, wanted, parsed.count)])
        return OK
    parsed.output = NDJSON
    with contextlib.closing(Follower(folder)) as follower, contextlib.suppress(KeyboardInterrupt):
        write_shown(parsed, [_record(one) for one in last_lines(folder, wanted, parsed.count)])
        while True:
            fresh = [_record(one) for one in follower.more() if wanted.takes(one)]
            if fresh:
                write_shown(parsed, fresh)
            time.sleep(_LOOK_SECONDS)
    return OK


def search(parsed: argparse.Namespace) -> int:
    from aerobee.app.audit_folder import read_lines

    start, end = read_range(parsed.start, parsed.end, "--to")
    wanted = _wanted(parsed)._replace(
        start=start if isinstance(start, datetime) else None,
        end=end if isinstance(end, datetime) else None,
    )
    write_shown(parsed, [_record(one) for one in read_lines(_folder(parsed), wanted)])
    return OK


def _folder(parsed: argparse.Namespace) -> str:
    folder: str = os.path.expanduser(parsed.dir)
    if not os.path.isdir(folder):
        raise WrongUse(
            f"there is no folder {folder}",
            hint="--dir is auditPath of the server; it is made for the first event",
        )
    return folder


def _wanted(parsed: argparse.Namespace) -> "Wanted":
    from aerobee.app.audit_folder import Wanted

    return Wanted(parsed.user, parsed.source, parsed.request, parsed.resource, parsed.decision)


def _record(event: dict[str, Any]) -> Record:
    return {
        "time": Whole(event.get("time", "")),
        "decision": event.get("decision", ""),
        "user": event.get("user", ""),
        "from": event.get("from", ""),
        "request": event.get("request", ""),
        "on": ", ".join(map(str, event.get("on", ()))),
        "answer": event.get("answer", ""),
        "reason": event.get("reason", ""),
        "left_out": event.get("left_out", 0),
        "server": event.get("server", ""),
    }
