"""What the verbs share that ask a cluster: where it is, how answers are shown, and being careful.

where     -n, else the variables AEROBEE_NAME_SERVER and NAMESRV_ADDR, else localhost:9876
how       -o table|json|yaml|ndjson|csv, --watch SECONDS
careful   whatever destroys says what it would do, asks, and takes --yes and --dry-run
"""

import argparse
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from aerobee.cli.output import (
    FAILED,
    FORMATS,
    OK,
    TABLE,
    WRONG_USE,
    Record,
    is_terminal,
    write_error,
    write_records,
)
from aerobee.errors import AerobeeError

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin

NAME_SERVER_VARIABLES = ("AEROBEE_NAME_SERVER", "NAMESRV_ADDR")
DEFAULT_NAME_SERVER = "localhost:9876"

Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Ask = Callable[["Admin"], Awaitable[Sequence[Record]]]
Do = Callable[["Admin"], Awaitable[object]]


def add_noun(nouns: Verbs, name: str, text: str, examples: str) -> Verbs:
    """A noun, and where its verbs go."""
    noun = nouns.add_parser(
        name,
        help=text,
        description=text,
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return noun.add_subparsers(title="verbs", metavar="VERB", required=True)


def add_verb(
    verbs: Verbs, name: str, text: str, verb: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    """A verb that asks a cluster, with the flags that all of those take."""
    parser = verbs.add_parser(name, help=text, description=text)
    parser.add_argument("-n", "--name-server", metavar="HOST:PORT", help=f"({DEFAULT_NAME_SERVER})")
    parser.add_argument("-o", "--output", choices=FORMATS, default=TABLE, help="(table)")
    parser.set_defaults(verb=verb)
    return parser


def add_watch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--watch", metavar="SECONDS", type=float, help="show it again and again, until Ctrl-C"
    )


def add_care(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, do nothing")


def target_of(parsed: argparse.Namespace, environment: Mapping[str, str] = os.environ) -> str:
    """Where the cluster's name servers are."""
    given: str | None = parsed.name_server
    said = (environment.get(name) for name in NAME_SERVER_VARIABLES)
    return given or next(filter(None, said), DEFAULT_NAME_SERVER)


def show(parsed: argparse.Namespace, ask: Ask, *, empty: str = "nothing") -> int:
    """Ask the cluster, and show what it says."""
    import asyncio
    import time

    every: float | None = getattr(parsed, "watch", None)
    while True:
        try:
            records = asyncio.run(_asked(parsed, ask))
        except AerobeeError as error:
            return write_error(error, parsed.output, sys.stderr)
        if every is not None and is_terminal():
            sys.stdout.write("\x1b[H\x1b[2J")
        write_records(records, parsed.output, sys.stdout, empty=empty)
        sys.stdout.flush()
        if every is None:
            return OK
        try:
            time.sleep(every)
        except KeyboardInterrupt:
            return OK


def do(parsed: argparse.Namespace, act: Do, done: str) -> int:
    """Have the cluster do something, and say that it did."""
    import asyncio

    try:
        asyncio.run(_asked(parsed, act))
    except AerobeeError as error:
        return write_error(error, parsed.output, sys.stderr)
    print(done)
    return OK


def do_with_care(parsed: argparse.Namespace, act: Do, effect: str, done: str) -> int:
    """The same, of what cannot be taken back: said first, and asked about."""
    if parsed.dry_run:
        print(f"would {effect}")
        return OK
    if not parsed.yes:
        if not is_terminal(sys.stdin):
            print(f"aerobee: this would {effect}", file=sys.stderr)
            print("  hint: nobody is here to be asked; say --yes or --dry-run", file=sys.stderr)
            return WRONG_USE
        if input(f"This would {effect}. Go on? [y/N] ").strip().lower() not in ("y", "yes"):
            print("nothing was done")
            return FAILED
    return do(parsed, act, done)


async def _asked(
    parsed: argparse.Namespace, ask: Callable[["Admin"], Awaitable[object]]
) -> "list[Record]":
    from aerobee.client.admin.admin import admin

    async with admin(target_of(parsed)) as asking:
        found = await ask(asking)
    return found if isinstance(found, list) else []
