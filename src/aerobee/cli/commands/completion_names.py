"""Names for an unfinished command line: the answer to a shell in which Tab was pressed.

    aerobee group reset bil▮  ─▶  words  ─▶  a group is wanted  ─▶  the cluster's groups: billing

The parser of the command says which argument is at the cursor. The cluster that is asked is the one
that the line names so far (-n, --context), else the one that the command itself would ask.

T1. What goes wrong is not said: there is no name then, and nothing on stderr.
T2. The process ends after `seconds`, whatever it waits for. Servers have three quarters of that;
    one that is silent takes a quarter, and the others are still asked.
"""

import argparse
import contextlib
import io
import os
import shlex
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from aerobee.cli.cluster_verbs import target_of
from aerobee.cli.contexts import read_contexts
from aerobee.cli.output import OK
from aerobee.model.names import (
    is_dead_letter_topic,
    is_retry_topic,
    is_system_group,
    is_system_topic,
    reply_topic,
)

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin

SECONDS = 1.0
_SERVERS_SHARE = 0.75
_QUOTES = ("", "'", '"')


class Kind(Enum):
    """What an argument is the name of."""

    TOPIC = auto()
    GROUP = auto()
    BROKER = auto()
    PLACE = auto()
    """A broker or a cluster."""
    CONTEXT = auto()


class Wanted(NamedTuple):
    """What a line could go on with."""

    kind: Kind
    prefix: str
    where: argparse.Namespace
    """What the line says of the cluster."""


class Found(NamedTuple):
    """Names of a cluster: an application's, and those that are seldom meant."""

    names: list[str]
    hidden: list[str]


_BY_NAME = {
    "topic": Kind.TOPIC,
    "to-topic": Kind.TOPIC,
    "group": Kind.GROUP,
    "broker": Kind.BROKER,
    "context": Kind.CONTEXT,
}
_BY_METAVAR = {"TOPIC": Kind.TOPIC, "BROKER": Kind.PLACE}
_BY_PLACE = {
    (" offset clone", "source"): Kind.GROUP,
    (" offset clone", "target"): Kind.GROUP,
    (" context use", "name"): Kind.CONTEXT,
    (" context remove", "name"): Kind.CONTEXT,
}


def kind_of(path: str, action: argparse.Action) -> Kind | None:
    """What an argument of the command at this path is the name of; None: of nothing that a cluster
    knows, or of something that is not there yet."""
    if path.startswith(" store"):  # files are looked at, and no cluster is asked
        return None
    if not action.option_strings and path.endswith((" create", " add")):
        return None
    name = action.dest.removeprefix("option ")
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    return _BY_PLACE.get((path, name)) or _BY_METAVAR.get(metavar) or _BY_NAME.get(name)


def print_names(line: str, seconds: float) -> int:
    """The names that fit at the end of a line, one in a line."""
    until = time.monotonic() + _SERVERS_SHARE * seconds
    with _ended_after(seconds), contextlib.redirect_stderr(io.StringIO()):
        names: list[str] = []
        with contextlib.suppress(Exception, SystemExit):
            wanted = wanted_at(line)
            if wanted is not None:
                names = fitting(_found(wanted, until), wanted.prefix)
    for name in names:
        print(name)
    return OK


def wanted_at(line: str) -> Wanted | None:
    """What is wanted at the end of a line; None: no name that a cluster knows."""
    from aerobee.cli.main import parser_for

    words, prefix = _words_in(line)
    parser, path = parser_for(words[:1]), ""
    said: dict[str, str] = {}
    flag: argparse.Action | None = None
    position = 0
    for word in words:
        below = _parsers_below(parser)
        if flag is not None:
            said[flag.option_strings[-1]] = word
            flag = None
        elif word.startswith("-") and word != "-":
            flag, value = _flag_in(parser, word)
            if flag is not None and value is not None:
                said[flag.option_strings[-1]] = value
                flag = None
        elif word in below:
            parser, path, position = below[word], f"{path} {word}", 0
        else:
            position += 1
    action = flag or _positional(parser, position)
    kind = None if action is None else kind_of(path, action)
    if kind is None:
        return None
    where = argparse.Namespace(name_server=said.get("--name-server"), context=said.get("--context"))
    return Wanted(kind, prefix, where)


def fitting(found: Found, prefix: str) -> list[str]:
    """The names that begin so; hidden ones, if no other does."""
    names = _beginning(found.names, prefix)
    return names or (_beginning(found.hidden, prefix) if prefix else [])


def _beginning(names: Iterable[str], prefix: str) -> list[str]:
    # A name that a shell would take for two, or a terminal for a command, is left out.
    return sorted(
        {one for one in names if one.startswith(prefix) and one.isprintable() and " " not in one}
    )


def _words_in(line: str) -> tuple[list[str], str]:
    """The whole words of a line behind the program, and the one at its end."""
    words: list[str] = []
    for quote in _QUOTES:  # one may be open
        with contextlib.suppress(ValueError):
            words = shlex.split(line + quote)
            break
    is_new = not quote and line[-1:].isspace()
    last = words.pop() if words and not is_new else ""
    while words and "=" in words[0]:  # variables before the program
        del words[0]
    return words[1:], last


def _parsers_below(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _flag_in(
    parser: argparse.ArgumentParser, word: str
) -> tuple[argparse.Action | None, str | None]:
    """The flag of a word, if it takes a value, and the value if the word has it: -nX, --flag=X."""
    name, is_whole, value = word.partition("=")
    if name not in parser._option_string_actions and not word.startswith("--"):
        name, is_whole, value = word[:2], "=", word[2:]
    found = parser._option_string_actions.get(name)
    if found is None or found.nargs == 0:
        return None, None
    return found, value if is_whole else None


def _positional(parser: argparse.ArgumentParser, position: int) -> argparse.Action | None:
    found = [action for action in parser._actions if not action.option_strings]
    if any(isinstance(action, argparse._SubParsersAction) for action in found):
        return None
    if position >= len(found) and found and found[-1].nargs in ("*", "+"):
        return found[-1]
    return found[position] if position < len(found) else None


def _found(wanted: Wanted, until: float) -> Found:
    if wanted.kind is Kind.CONTEXT:
        return Found(list(read_contexts(os.environ).targets), [])
    import asyncio

    return asyncio.run(_asked(wanted, until))


async def _asked(wanted: Wanted, until: float) -> Found:
    import asyncio

    from aerobee.client.admin.admin import admin

    seconds = max(0.1, until - time.monotonic())
    async with (
        asyncio.timeout(seconds),
        admin(target_of(wanted.where), timeout=seconds / 3, connect_timeout=seconds / 3) as asking,
    ):
        if wanted.kind is Kind.TOPIC:
            return await _topics(asking)
        if wanted.kind is Kind.GROUP:
            return await _groups(asking)
        brokers = (await asking.cluster()).brokers
        names = [broker.name for broker in brokers]
        if wanted.kind is Kind.PLACE:
            names += [broker.cluster for broker in brokers]
        return Found(names, [])


async def _topics(asking: "Admin") -> Found:
    import asyncio

    names, cluster = await asyncio.gather(asking.topics.names(), asking.cluster())
    own = {broker.name for broker in cluster.brokers}
    for broker in cluster.brokers:
        own |= {broker.cluster, reply_topic(broker.cluster)}
    return _parted(
        names,
        lambda name: (
            name in own
            or is_retry_topic(name)
            or is_dead_letter_topic(name)
            or is_system_topic(name, cluster="", broker="")
        ),
    )


async def _groups(asking: "Admin") -> Found:
    import asyncio

    from aerobee.cli.commands.group import READERS
    from aerobee.model.route import MASTER_ID

    brokers = (await asking.cluster()).brokers
    masters = [one.addresses[MASTER_ID] for one in brokers if MASTER_ID in one.addresses]
    told = await asyncio.gather(
        *(asking.groups.names(on=address) for address in masters), return_exceptions=True
    )
    names = {name for some in told if not isinstance(some, BaseException) for name in some}
    return _parted(names, lambda name: is_system_group(name) or name in READERS)


def _parted(names: Iterable[str], is_hidden: Callable[[str], bool]) -> Found:
    found = Found([], [])
    for name in names:
        (found.hidden if is_hidden(name) else found.names).append(name)
    return found


@contextlib.contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    """End the process if it is in here for longer. The lookup of a host's name cannot be given up,
    and Python would wait for it at the end."""
    before = signal.signal(signal.SIGALRM, lambda *_: os._exit(OK))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
