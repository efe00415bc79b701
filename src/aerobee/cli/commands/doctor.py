"""`aerobee doctor`: checks this machine and prints problems, remedies and reasons. Changes nothing.

Status 4: there is a problem of the worst level.
"""

import argparse
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import DEFAULT_NAME_SERVER, Verbs, target_of
from aerobee.cli.output import FORMATS, OK, TABLE, UNHEALTHY, one_line, write_records

if TYPE_CHECKING:
    from aerobee.app.diagnosis.finding import Finding

_EXAMPLES = """\
examples:
  aerobee doctor                            this machine, and the cluster in use
  aerobee doctor -n 10.0.0.5:9876           a cluster: can its brokers be reached?
  aerobee doctor -c conf/broker.conf        before a broker is started
  aerobee doctor --store /data/store        the disk under a store
  aerobee doctor --fix                      the commands, as a script; nothing is run
  aerobee doctor -o json                    for programs
"""
_WIDTH = 80
_MARKS = {"ok": "ok  ", "warn": "WARN", "bad": "BAD "}


def add_to(nouns: Verbs) -> None:
    text = "find what is wrong with a machine, a cluster or a configuration"
    parser = nouns.add_parser(
        "doctor",
        help=text,
        description=text,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-n", "--name-server", metavar="HOST:PORT", help="(localhost:9876)")
    parser.add_argument("--context", metavar="NAME", help="a cluster by name; see `context`")
    parser.add_argument("-c", "--config", metavar="FILE", help="a broker.conf to check")
    parser.add_argument("--store", metavar="DIR", help="where messages are kept")
    parser.add_argument("--fix", action="store_true", help="print the commands; run none")
    parser.add_argument("-o", "--output", choices=FORMATS, default=TABLE, help="(table)")
    parser.set_defaults(verb=examine)


def examine(parsed: argparse.Namespace) -> int:
    from aerobee.app.diagnosis import examination
    from aerobee.app.diagnosis.finding import BAD, LEVELS, script, worst

    target = target_of(parsed)
    is_chosen = parsed.name_server is not None or target != DEFAULT_NAME_SERVER
    findings = examination.examine(
        examination.Subject(target, is_chosen, parsed.config, parsed.store)
    )
    if parsed.fix:
        print(script(findings))
    elif parsed.output != TABLE:
        write_records([one.to_json() for one in findings], parsed.output, sys.stdout)
    else:
        for one in findings:
            print(_shown(f"{_MARKS[one.level]} {one.area:<8} {one.subject}: {one.seen}", 14))
            if one.change:
                print(_shown(f"              → {one.change},", 16))
                print(_shown(f"                because {one.why}", 16))
        counts = [f"{sum(one.level == level for one in findings)} {level}" for level in LEVELS]
        print(f"\n{', '.join(counts)}{_next(findings)}")
    return UNHEALTHY if worst(findings) == BAD else OK


def _shown(text: str, indent: int) -> str:
    """Format a finding, over several lines if needed."""
    return textwrap.fill(
        one_line(text),
        _WIDTH,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _next(findings: "Sequence[Finding]") -> str:
    """Return the command to run next."""
    has_commands = any(one.commands and one.level != "ok" for one in findings)
    return "; `aerobee doctor --fix` prints the commands" if has_commands else ""
