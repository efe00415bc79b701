"""Entry of `aerobee NOUN VERB …`: parses the arguments and runs the verb.

A noun has its module in `commands`, with a function per verb. Only the module of the given noun is
imported: `aerobee --help` must not wait for a broker's code, nor `aerobee topic` for a store's. A
noun's module has `add_to(nouns)`, which adds the noun's parser; its other imports are made when a
verb is used.
"""

import argparse
import importlib
import os
import shlex
import sys
from collections.abc import Sequence
from typing import NoReturn

from aerobee.cli.command_parser import CommandParser, HelpLayout
from aerobee.cli.nouns import NOUNS
from aerobee.cli.output import FORMATS, TABLE, WRONG_USE, WrongUse, write_error
from aerobee.cli.secret_words import find_secret, warn
from aerobee.errors import AerobeeError

_EXAMPLES = """\
examples:
  aerobee up                               something to try things out with
  aerobee nameserver start                 a name server on 127.0.0.1:9876
  aerobee broker start -n 127.0.0.1:9876   a broker on 127.0.0.1:10911
  aerobee run billing:app                  handle messages in an application
  aerobee topic create orders              make a topic
  aerobee message send orders hello        send it a message
  aerobee message tail orders              follow it
  aerobee group list                       who consumes, and how far behind
  aerobee bench produce                    how fast it is, and what holds it back
  aerobee doctor                           what may be wrong here
  aerobee broker --help                    what else a broker can do
"""
_INTERRUPTED = 130  # what shells say of Ctrl-C


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command in the arguments; returns the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if (rearranged := _noun_first(given)) != given:
        problem = WrongUse(
            f"{given[0]} comes before the noun", hint=f"say `aerobee {shlex.join(rearranged)}`"
        )
        return write_error(problem, TABLE, sys.stderr)
    parser = parser_for(given[:1])
    if not given:
        parser.print_help(sys.stderr)
        return WRONG_USE
    parsed = parser.parse_args(given)
    hint = find_secret(given) if given[0] != "mqadmin" else None  # it warns itself
    if hint is not None:
        warn(hint, sys.stderr)
    try:
        status: int = parsed.verb(parsed)
        sys.stdout.flush()
    except AerobeeError as error:
        form = getattr(parsed, "output", TABLE)
        return write_error(error, form if form in FORMATS else TABLE, sys.stderr)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:  # whoever read it has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


def _noun_first(given: list[str]) -> list[str]:
    """Move flags that stand before the noun, as other tools allow, behind the verb."""
    if not given or not given[0].startswith("-"):
        return given
    at = next((at for at, word in enumerate(given) if word in NOUNS), 0)
    return given[at:] + given[:at]


class _Version(argparse.Action):
    """`--version`: prints versions, which are looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        import aerobee
        from aerobee._compiled import report

        python = ".".join(map(str, sys.version_info[:3]))
        print(f"aerobee {aerobee.__version__}, Python {python}, {report()}")
        parser.exit()


def parser_for(nouns_asked: Sequence[str]) -> argparse.ArgumentParser:
    """Return a parser that knows all nouns by name, and these with their verbs."""
    parser = CommandParser(
        prog="aerobee",
        description="RocketMQ for Python people.",
        epilog=_EXAMPLES,
        formatter_class=HelpLayout,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="what runs here, and exit")
    nouns = parser.add_subparsers(title="nouns", metavar="NOUN", required=True)
    for name, (module, text) in NOUNS.items():
        if name in nouns_asked:
            importlib.import_module(f"aerobee.cli.{module}").add_to(nouns)
        else:
            nouns.add_parser(name, help=text, add_help=False)
    return parser


if __name__ == "__main__":
    sys.exit(main())
