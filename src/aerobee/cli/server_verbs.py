"""The shared parts of verbs that run servers: flags become settings, mistakes are reported.

    status   as in aerobee.app.process.lifecycle: 2 for wrong settings; then nothing starts

Mistakes go to stderr, all of them, one line each.
"""

import argparse
import logging
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypeVar

from aerobee.cli.examples import laid_out

if TYPE_CHECKING:
    from aerobee.app.process.lifecycle import Part
    from aerobee.app.settings.config import Given
    from aerobee.cli.cluster_verbs import Verbs

S = TypeVar("S")
Verb = Callable[[argparse.Namespace], int]
Life: TypeAlias = "tuple[Sequence[Part], Sequence[Part]]"
"""The parts of a process, and its guests."""


class Flag(NamedTuple):
    """A setting that can be given on the command line."""

    name: str
    key: str
    help: str
    metavar: str | None = None
    short: str = ""
    is_switch: bool = False
    """Whether it is given without a value, and means true."""


INSTALL_CONSOLE = "the console needs more packages: pip install 'aerobee[console]'"
INSECURE = Flag(
    "insecure",
    "insecure",
    "be open to other machines though nobody is asked who it is",
    is_switch=True,
)


class Told(Protocol):
    """The settings of a server: the ignored keys, and the effective values as text."""

    @property
    def ignored(self) -> Sequence[str]: ...

    @property
    def effective(self) -> str: ...


def add_server(nouns: "Verbs", name: str, text: str, examples: str) -> "Verbs":
    """Add the noun of a server; returns the object that its verbs are added to."""
    noun = _add(nouns, name, text, examples)
    return noun.add_subparsers(title="verbs", metavar="VERB", required=True)


def add_server_verb(
    verbs: "Verbs", name: str, text: str, verb: Verb, flags: Sequence[Flag], examples: str
) -> argparse.ArgumentParser:
    """Add a verb that takes settings as flags."""
    parser = _add(verbs, name, text, examples)
    for flag in flags:
        names = [flag.short, f"--{flag.name}"] if flag.short else [f"--{flag.name}"]
        if flag.is_switch:
            parser.add_argument(
                *names, dest=flag.name, action="store_const", const="true", help=flag.help
            )
        else:
            parser.add_argument(*names, dest=flag.name, metavar=flag.metavar, help=flag.help)
    parser.set_defaults(verb=verb)
    return parser


def given(parsed: argparse.Namespace, flags: Sequence[Flag]) -> "list[Given]":
    """Return the settings that were given as flags."""
    from aerobee.app.settings.config import Given

    said = ((flag, getattr(parsed, flag.name)) for flag in flags)
    return [Given(flag.key, text, f"--{flag.name}") for flag, text in said if text is not None]


def settings_from(read: Callable[[], S]) -> S | None:
    """Return the effective settings; None: mistakes were printed."""
    from aerobee.app.settings.config import BadConfig

    try:
        return read()
    except BadConfig as error:
        for mistake in error.mistakes:
            print(f"aerobee: {mistake}", file=sys.stderr)
        return None


def print_settings(settings: Told | None) -> int:
    """Print the effective settings, and the source of each value."""
    from aerobee.app.process import lifecycle

    if settings is None:
        return lifecycle.WRONG_CONFIG
    for key in settings.ignored:
        print(f"# {key} has no meaning here")
    print(settings.effective, end="")
    return lifecycle.STOPPED


def serve(settings: S | None, life_of: "Callable[[S], Life]", *, is_quiet: bool = False) -> int:
    """Run the parts and guests of the settings, until stopped. Quiet: the log has only warnings,
    and reports of a slow start."""
    from aerobee.app.process import lifecycle, log_setup

    if settings is None:
        return lifecycle.WRONG_CONFIG
    starts = logging.getLogger("aerobee.app.process.broker_process")
    starts_level = starts.level
    with log_setup.logs_shown("WARNING" if is_quiet else "INFO"):
        if is_quiet:
            starts.setLevel(logging.INFO)
        try:
            return lifecycle.run(*life_of(settings))
        finally:
            starts.setLevel(starts_level)


def _add(where: "Verbs", name: str, text: str, examples: str) -> argparse.ArgumentParser:
    return where.add_parser(
        name,
        help=text,
        description=text,
        epilog=f"examples:\n{laid_out(examples)}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
