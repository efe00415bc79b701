"""Entry of `mqadmin SUB …` and `aerobee mqadmin SUB …`: runs a sub-command or prints its help.

    mqadmin                    lists all sub-commands, one per line
    mqadmin help SUB           prints its flags; so does `mqadmin SUB -h`
    mqadmin SUB -n HOST:PORT   upper or lower case; without -n the variable NAMESRV_ADDR

Requests are signed with the credentials of -n (`rmq://key:secret@host:port`) or of RocketMQ's file
`conf/tools.yml`. A secret in the arguments is warned of.

Status: 0 success, 1 failed, 2 wrong use, 3 no such topic. Errors go to stderr, with a hint.
"""

import argparse
import difflib
import os
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import Verbs, target_of
from aerobee.cli.mqadmin import catalog
from aerobee.cli.mqadmin.options import HELP, NAME_SERVER, Given, Option, read
from aerobee.cli.output import OK, TABLE, WRONG_USE, write_error
from aerobee.cli.secret_words import OF_OPTION, find_secret, warn
from aerobee.errors import AerobeeError, Misuse

if TYPE_CHECKING:
    from aerobee.cli.mqadmin.command import Command

TEXT = "RocketMQ's own tool: its sub-commands, flags and columns"
_EXAMPLES = """\
examples:
  aerobee mqadmin                                 every sub-command
  aerobee mqadmin help updateTopic                what one takes
  aerobee mqadmin topicList -n 127.0.0.1:9876
  aerobee mqadmin consumerProgress -g billing
"""
_COLUMNS = 80
_HELP_WORDS = ("help", "-h", "--help")


def add_to(nouns: Verbs) -> None:
    noun = nouns.add_parser(
        "mqadmin",
        help=TEXT,
        description=TEXT,
        epilog=_EXAMPLES,
        add_help=False,
        prefix_chars="\0",  # flags are the sub-command's
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    noun.add_argument("words", nargs="*", metavar="SUB FLAGS", action=_Words)
    noun.set_defaults(verb=lambda parsed: main(parsed.words))


class _Words(argparse.Action):
    """All arguments after the noun; a lone help flag is handled by this parser."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        if values in (["-h"], ["--help"]):
            parser.print_help()
            parser.exit()
        setattr(namespace, self.dest, values)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the sub-command in the arguments; returns the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or (words[0] in _HELP_WORDS and len(words) == 1):
        _say_all()
        return OK
    is_help = words[0] in _HELP_WORDS
    name = words[1] if is_help else words[0]
    command = catalog.find(name)
    if command is None:
        return _say_unknown(name)
    if is_help or words[1:2] in (["-h"], ["--help"]):
        _say_help(command)
        return OK
    if command.run is None:  # whatever flags it was given
        return write_error(Misuse(command.why_not, hint=command.instead), TABLE, sys.stderr)
    try:
        given = read(command.options, words[1:])
    except Misuse as error:
        return _say_wrong(command, error)
    if HELP.long in given:
        _say_help(command)
        return OK
    hint = OF_OPTION if "password" in given else find_secret(words)
    if hint is not None:
        warn(hint, sys.stderr)
    return _run(command, given)


def _run(command: "Command", given: Given) -> int:
    import asyncio

    try:
        asyncio.run(_ask(command, given))
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read it has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except AerobeeError as error:
        sys.stdout.flush()
        error.hint = error.hint or f"mqadmin help {command.name} says what it takes"
        return write_error(error, TABLE, sys.stderr)
    except KeyboardInterrupt:
        return OK
    return OK


async def _ask(command: "Command", given: Given) -> None:
    from aerobee.cli.mqadmin.command import Call
    from aerobee.cli.mqadmin.files import credentials_in
    from aerobee.client.admin.admin import admin

    assert command.run is not None
    said = argparse.Namespace(name_server=given.text(NAME_SERVER.long) or None)
    name_server = target_of(said)
    credentials = None if "@" in name_server else credentials_in(os.environ)
    async with admin(name_server, credentials=credentials) as asking:
        await command.run(Call(given, asking, name_server))


def _say_all() -> None:
    print("The most commonly used mqadmin commands are:")
    for name in catalog.names():
        command = catalog.find(name)
        assert command is not None
        print(_filled(f"   {name:<35} {command.text}", 39))
    print("\nSee 'mqadmin help <command>' for more information on a specific command.")


def _say_help(command: "Command") -> None:
    flags = "".join(map(_usage, command.options))
    print(_filled(f"usage: mqadmin {command.name}{flags} [-n <arg>]", 7))
    print(_filled(f"  {command.text}", 2))
    if command.run is None:
        print(_filled(f"  cannot be done: {command.why_not}", 4))
        print(_filled(f"  instead: {command.instead}", 4))
    for option in (*command.options, NAME_SERVER, HELP):
        short = f"-{option.short}," if option.short else ""
        value = "" if option.is_switch else " <arg>"
        flag = f"{short}--{option.long}{value}"
        print(_filled(f" {flag:<34} {option.text}", 36))
    if command.run is not None:
        print(_filled(f"example:  mqadmin {command.name}{_example(command)}", 12))


def _example(command: "Command") -> str:
    """Return an example with the required flags; if there is a choice of targets, with a
    cluster."""
    words = [f" -{one.short} {one.long.upper()}" for one in command.options if one.is_required]
    places = [one for one in command.options if one.long == "clusterName" and not one.is_required]
    words += [" -c DefaultCluster" for _ in places]
    return "".join([*words, " -n 127.0.0.1:9876"])


def _filled(text: str, indent: int) -> str:
    """Wrap a text to 80 columns; lines after the first are indented."""
    return textwrap.fill(
        text,
        _COLUMNS,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
    ).replace("\u00a0", " ")


def _usage(option: Option) -> str:
    flag = f"-{option.short}" if option.short else f"--{option.long}"
    flag += "" if option.is_switch else "\u00a0<arg>"  # they stay together
    return f" {flag}" if option.is_required else f" [{flag}]"


def _say_unknown(name: str) -> int:
    near = difflib.get_close_matches(name.lower(), [one.lower() for one in catalog.names()], 3)
    known = [one for one in catalog.names() if one.lower() in near]
    hint = f"did you mean {', '.join(known)}?" if known else "mqadmin lists all"
    write_error(Misuse(f"The sub command '{name}' does not exist", hint=hint), TABLE, sys.stderr)
    return WRONG_USE


def _say_wrong(command: "Command", error: Misuse) -> int:
    hint = error.hint or f"mqadmin help {command.name}"
    write_error(Misuse(error.message, hint=hint), TABLE, sys.stderr)
    return WRONG_USE


if __name__ == "__main__":
    sys.exit(main() or OK)
