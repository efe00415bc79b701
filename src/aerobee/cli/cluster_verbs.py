"""The shared parts of verbs that ask a cluster: its address, output of answers, confirmation.

where     -n, else a context (--context, $AEROBEE_CONTEXT, the one in use), else the variables
          AEROBEE_NAME_SERVER and NAMESRV_ADDR, else localhost:9876
how       -o table|json|yaml|ndjson|csv, --wide, --watch [SECONDS]
careful   a destructive verb shows its effect and its cluster, asks, and takes --yes and --dry-run

A verb raises its errors; `main` prints them in the chosen output format.
"""

import argparse
import contextlib
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from aerobee.cli.command_parser import HelpLayout
from aerobee.cli.contexts import CONTEXT_VARIABLE, read_contexts
from aerobee.cli.examples import laid_out
from aerobee.cli.output import (
    FAILED,
    FORMATS,
    OK,
    TABLE,
    Record,
    WrongUse,
    is_terminal,
    width_of,
    write_records,
    write_report,
)

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin

T = TypeVar("T")

NAME_SERVER_VARIABLES = ("AEROBEE_NAME_SERVER", "NAMESRV_ADDR")
DEFAULT_NAME_SERVER = "localhost:9876"
WATCH_SECONDS = 2.0

Verb = Callable[[argparse.Namespace], int]
Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Ask = Callable[["Admin"], Awaitable[Sequence[Record]]]
Do = Callable[["Admin"], Awaitable[object]]


# Parsers.


def add_noun(nouns: Verbs, name: str, text: str, examples: str) -> Verbs:
    """Add a noun; returns the object that its verbs are added to."""
    noun = nouns.add_parser(
        name,
        help=text,
        description=text,
        epilog=f"examples:\n{laid_out(examples)}",
        formatter_class=HelpLayout,
    )
    return noun.add_subparsers(title="verbs", metavar="VERB", required=True)


def add_local_verb(verbs: Verbs, name: str, text: str, verb: Verb) -> argparse.ArgumentParser:
    """Add a verb that needs no cluster, with the flags for output."""
    parser = verbs.add_parser(name, help=text, description=text)
    parser.add_argument("-o", "--output", choices=FORMATS, default=TABLE, help="(table)")
    parser.add_argument("--wide", action="store_true", help="cut nothing, however wide")
    parser.set_defaults(verb=verb)
    return parser


def add_verb(verbs: Verbs, name: str, text: str, verb: Verb) -> argparse.ArgumentParser:
    """Add a verb that asks a cluster, with the flags that all of those take."""
    parser = add_local_verb(verbs, name, text, verb)
    parser.add_argument("-n", "--name-server", metavar="HOST:PORT", help=f"({DEFAULT_NAME_SERVER})")
    parser.add_argument("--context", metavar="NAME", help="a cluster by name; see `context`")
    return parser


def add_watch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--watch",
        metavar="SECONDS",
        type=float,
        nargs="?",
        const=WATCH_SECONDS,
        help="show it again and again (2), until Ctrl-C",
    )


def add_care(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, do nothing")


def add_where(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--on",
        action="append",
        metavar="BROKER",
        help="only there: a broker, a cluster or host:port; may be given more than once",
    )


def whole_from(least: int) -> Callable[[str], int]:
    """Return an argparse type: whole numbers from a minimum on."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} on")
        return number

    return read


# Where.


def target_of(parsed: argparse.Namespace, environment: Mapping[str, str] = os.environ) -> str:
    """Return the address of the cluster's name servers, from flags, context and environment."""
    given: str | None = parsed.name_server
    if given:
        return given
    contexts = read_contexts(environment)
    named: str | None = getattr(parsed, "context", None) or environment.get(CONTEXT_VARIABLE)
    if named or contexts.current:
        return contexts.target(named or contexts.current)
    said = (environment.get(name) for name in NAME_SERVER_VARIABLES)
    return next(filter(None, said), DEFAULT_NAME_SERVER)


def without_secret(target: str) -> str:
    """Return a target without its secret, for output."""
    scheme, divided, rest = target.partition("://")
    login, at, places = rest.rpartition("@")
    if not divided or not at:
        return target
    return f"{scheme}://{login.partition(':')[0]}:***@{places}"


# Asking, showing, doing.


def asked(parsed: argparse.Namespace, ask: Callable[["Admin"], Awaitable[T]]) -> T:
    """Run one question against a cluster and return its answer."""
    import asyncio

    async def live() -> T:
        from aerobee.client.admin.admin import admin

        async with admin(target_of(parsed)) as asking:
            return await ask(asking)

    return asyncio.run(live())


def show(
    parsed: argparse.Namespace,
    ask: Ask,
    *,
    empty: str = "nothing",
    status: Callable[[Sequence[Record]], int] = lambda records: OK,
) -> int:
    """Ask the cluster, and print the answer; `status` computes the exit status from it."""

    def write(records: Sequence[Record]) -> int:
        write_shown(parsed, records, empty=empty)
        return status(records)

    return _again_and_again(parsed, ask, write)


def show_report(parsed: argparse.Namespace, ask: Callable[["Admin"], Awaitable[Record]]) -> int:
    """The same for one object with its facts."""

    def write(report: Record) -> int:
        width = width_of(sys.stdout, is_wide=parsed.wide)
        write_report(report, parsed.output, sys.stdout, width=width)
        return OK

    return _again_and_again(parsed, ask, write)


def write_shown(
    parsed: argparse.Namespace, records: Sequence[Record], *, empty: str = "nothing"
) -> None:
    """Print records, in the format that the flags choose."""
    width = width_of(sys.stdout, is_wide=parsed.wide)
    write_records(records, parsed.output, sys.stdout, empty=empty, width=width)


def say(parsed: argparse.Namespace, text: str, *, name: str = "done") -> None:
    """Print a sentence for people, or a record for programs."""
    if parsed.output == TABLE:
        print(text)
    else:
        write_records([{name: text}], parsed.output, sys.stdout)


def do(parsed: argparse.Namespace, act: Do, done: str) -> int:
    """Change something in the cluster, and print that it was done."""
    asked(parsed, act)
    say(parsed, done)
    return OK


def do_with_care(parsed: argparse.Namespace, act: Do, effect: str, done: str) -> int:
    """The same for changes that cannot be undone: shown first, and confirmed."""
    if parsed.dry_run:
        say(parsed, f"would {effect}", name="would")
        return OK
    if not agrees(parsed, effect):
        return FAILED
    return do(parsed, act, done)


def agrees(parsed: argparse.Namespace, effect: str) -> bool:
    """Whether the change is confirmed: by --yes, or by the user's answer now."""
    if parsed.yes:
        return True
    if not is_terminal(sys.stdin):
        raise WrongUse(
            f"this would {effect}", hint="nobody is here to be asked; say --yes or --dry-run"
        )
    place = f" ({without_secret(target_of(parsed))})" if hasattr(parsed, "name_server") else ""
    answer = input(f"This would {effect}{place}. Go on? [y/N] ")
    if answer.strip().lower() in ("y", "yes"):
        return True
    print("nothing was done")
    return False


def _again_and_again(
    parsed: argparse.Namespace,
    ask: Callable[["Admin"], Awaitable[T]],
    write: Callable[[T], int],
) -> int:
    """Run once or, with --watch, until interrupted."""
    import asyncio

    every: float | None = getattr(parsed, "watch", None)
    if every is None:
        return write(asked(parsed, ask))
    if every <= 0:
        raise WrongUse(f"--watch {every:g} is no time to wait", hint="say seconds: --watch 2")

    async def watch(admin: "Admin") -> None:
        while True:
            found = await ask(admin)
            if is_terminal():
                sys.stdout.write("\x1b[H\x1b[2J")
            write(found)
            sys.stdout.flush()
            await asyncio.sleep(every)

    with contextlib.suppress(KeyboardInterrupt):
        asked(parsed, watch)
    return OK
