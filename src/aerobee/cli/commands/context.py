"""`aerobee context …`: names clusters, so that commands need no addresses.

A command asks the name servers of -n, else of a context (--context, $AEROBEE_CONTEXT, the one in
use), else of the variables AEROBEE_NAME_SERVER and NAMESRV_ADDR, else localhost:9876.
"""

import argparse
import os
import sys

from aerobee.cli.cluster_verbs import (
    Verbs,
    add_care,
    add_local_verb,
    add_noun,
    agrees,
    say,
    without_secret,
    write_shown,
)
from aerobee.cli.contexts import CONTEXT_VARIABLE, contexts_path, read_contexts, write_contexts
from aerobee.cli.output import FAILED, OK
from aerobee.errors import Misuse

_EXAMPLES = """\
  aerobee context add dev localhost:9876 --use
  aerobee context add prod - < address.txt        rmqs://key:secret@10.0.0.1:9876?ca=ca.crt
  aerobee context list
  aerobee context use prod
  aerobee topic list --context dev                once, whatever is in use
  aerobee context remove dev
"""


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "context", "clusters by name", _EXAMPLES)
    adding = add_local_verb(verbs, "add", "give a cluster a name", add)
    adding.add_argument("name")
    adding.add_argument(
        "target",
        help="host:port;host:port, or rmq://key:secret@host:port/ns; - is standard input",
    )
    adding.add_argument("--use", action="store_true", help="and use it from now on")
    adding.add_argument("--replace", action="store_true", help="one that has the name already")
    using = add_local_verb(verbs, "use", "use a cluster from now on", use)
    using.add_argument("name", nargs="?", default="", help="(none: go by the variables again)")
    add_local_verb(verbs, "list", "the clusters that have names", list_contexts)
    removing = add_local_verb(verbs, "remove", "forget a cluster's name", remove)
    removing.add_argument("name")
    add_care(removing)


def add(parsed: argparse.Namespace) -> int:
    from aerobee.client.core.target import parse_target

    target = _read_target(parsed.name) if parsed.target == "-" else parsed.target
    parse_target(target)  # what cannot be read is not kept
    contexts = read_contexts(os.environ)
    if parsed.name in contexts.targets and not parsed.replace:
        raise Misuse(f"there is a context {parsed.name!r} already", hint="say --replace")
    contexts = contexts.with_target(parsed.name, target)
    path = write_contexts(contexts.using(parsed.name) if parsed.use else contexts, os.environ)
    say(parsed, f"{parsed.name} is {without_secret(target)}, kept in {path}")
    return OK


def _read_target(name: str) -> str:
    """Read an address from standard input, without showing what is typed: it may have a secret."""
    if sys.stdin.isatty():
        import getpass

        target = getpass.getpass(f"address of {name}: ").strip()
    else:
        target = sys.stdin.readline().strip()
    if not target:
        raise Misuse("standard input has no address", hint="it takes one line, host:port at least")
    return target


def use(parsed: argparse.Namespace) -> int:
    contexts = read_contexts(os.environ).using(parsed.name)
    write_contexts(contexts, os.environ)
    if parsed.name:
        place = without_secret(contexts.target(parsed.name))
        say(parsed, f"{parsed.name} is in use: {place}")
    else:
        say(parsed, "no context is in use")
    return OK


def list_contexts(parsed: argparse.Namespace) -> int:
    contexts = read_contexts(os.environ)
    current = os.environ.get(CONTEXT_VARIABLE) or contexts.current
    records = [
        {"name": name, "target": without_secret(target), "is_used": name == current}
        for name, target in sorted(contexts.targets.items())
    ]
    write_shown(parsed, records, empty=f"no context in {contexts_path(os.environ)}")
    return OK


def remove(parsed: argparse.Namespace) -> int:
    contexts = read_contexts(os.environ)
    effect = f"forget {parsed.name}, {without_secret(contexts.target(parsed.name))}"
    if parsed.dry_run:
        say(parsed, f"would {effect}", name="would")
        return OK
    if not agrees(parsed, effect):
        return FAILED
    write_contexts(contexts.without(parsed.name), os.environ)
    say(parsed, f"{parsed.name} is forgotten")
    return OK
