"""The parser of command lines: argparse's, with errors in the format of all other errors.

An error names the mistake, the command, the nearest name for a misspelt one, and the help page:

    aerobee: topic has no VERB 'crate'
      code: WrongUse
      hint: did you mean create? `aerobee topic --help` lists all

An argument too many is an error of the verb that got it, not of `aerobee` as a whole. A noun
without a verb prints the noun's help. A noun may have a verb that is meant where none is said:
`members GROUP` is `members list GROUP`.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from aerobee.cli.output import TABLE, WRONG_USE, WrongUse, write_error

_LISTED_MAX = 8


class HelpLayout(argparse.RawDescriptionHelpFormatter):
    """Puts verbs and their descriptions side by side: argparse before Python 3.13 ignores their
    indentation, and puts long ones on a line of their own."""

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        if action.nargs == argparse.PARSER:
            longest = max(map(len, action.choices or ()), default=0)
            indented = self._current_indent + self._indent_increment + longest
            self._action_max_length = max(self._action_max_length, indented)


class CommandParser(argparse.ArgumentParser):
    silent_verb = ""
    """The verb that is meant if the first word is none; empty: there is none."""

    def parse_known_args(  # type: ignore[override]  # its overloads are for other namespaces
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        if args is not None and not args and self._needs_a_verb():
            self.print_help(sys.stderr)
            self.exit(WRONG_USE)
        if args and self.silent_verb and not self._begins_with_verb(args[0]):
            args = [self.silent_verb, *args]
        parsed, rest = super().parse_known_args(args, namespace)
        if rest:
            flags = [flag for flag in rest if flag.startswith("-")]
            near = _near(flags[0].partition("=")[0], self._option_string_actions) if flags else ""
            self._refuse(f" does not take {' '.join(rest)}", near)
        return parsed, rest

    def _needs_a_verb(self) -> bool:
        return any(action.required for action in self._actions if action.nargs == argparse.PARSER)

    def _begins_with_verb(self, word: str) -> bool:
        verbs = (action for action in self._actions if action.nargs == argparse.PARSER)
        return word in ("-h", "--help") or any(word in (one.choices or ()) for one in verbs)

    def error(self, message: str) -> NoReturn:
        self._refuse(f": {message}", self._choices_missing(message))

    def _choices_missing(self, message: str) -> str:
        """Return the choices of the first missing argument that has choices."""
        missing = message.partition("are required: ")[2].split(", ")
        for action in self._actions:
            if action.choices is not None and (action.metavar or action.dest) in missing:
                return f"{action.dest} is one of {', '.join(map(str, action.choices))}; "
        return ""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            name = action.metavar or "/".join(action.option_strings) or action.dest
            known = [str(choice) for choice in action.choices]
            listed = f"one of {', '.join(known)}; " if len(known) <= _LISTED_MAX else ""
            self._refuse(f" has no {name} {value!r}", _near(str(value), known) or listed)

    def _refuse(self, what: str, near: str) -> NoReturn:
        command = self.prog.partition(" ")[2]
        message = f"{command}{what}" if command else what.lstrip(": ")
        problem = WrongUse(message, hint=f"{near}`{self.prog} --help` lists all")
        self.exit(write_error(problem, TABLE, sys.stderr))


def mean_silently(parser: argparse.ArgumentParser, verb: str) -> None:
    """Have a verb be meant where none is said."""
    if isinstance(parser, CommandParser):
        parser.silent_verb = verb


def _near(said: str, known: Iterable[str]) -> str:
    close = get_close_matches(said, list(known), n=1)
    return f"did you mean {close[0]}? " if close else ""
