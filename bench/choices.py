"""Choices of a benchmark on its command line: how long, which cases, which servers, which disk.

All benchmarks that run servers beside each other have the same flags.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Choices(NamedTuple):
    is_quick: bool
    cases: Sequence[str]
    servers: Sequence[str]
    root: Path
    """A folder that is there, and is removed at the end."""
    plot: str
    """A file for a picture; empty: none is wanted."""
    minutes: float
    """Of a run that lasts as long as somebody wants; 0: the usual."""


def read_choices(
    description: str | None,
    cases: Sequence[str],
    servers: Sequence[str],
    *,
    has_plot: bool = False,
    has_minutes: bool = False,
) -> Choices:
    """What the command line says. A name that is none of the known ones ends the program."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="short runs: is it all there?")
    parser.add_argument("--only", help=f"some of {','.join(cases)}", default=",".join(cases))
    parser.add_argument("--servers", default=",".join(servers), help="some of %(default)s")
    if has_plot:
        parser.add_argument("--plot", metavar="FILE.svg", help="the gaps as a picture")
    if has_minutes:
        parser.add_argument("--minutes", type=float, default=0.0, help="of the steady part")
    parser.add_argument("--root", help="where to write (default: the system's temporary folder)")
    options = parser.parse_args()
    chosen = options.only.split(","), options.servers.split(",")
    for given, known in zip(chosen, (cases, servers), strict=True):
        if unknown := set(given) - set(known):
            parser.error(f"{', '.join(sorted(unknown))}: not one of {', '.join(known)}")
    root = Path(options.root or tempfile.mkdtemp(prefix="aerobee-bench-", dir="/var/tmp"))
    root.mkdir(parents=True, exist_ok=True)
    plot = (options.plot or "") if has_plot else ""
    minutes = options.minutes if has_minutes else 0.0
    return Choices(options.quick, *chosen, root, plot, minutes)
