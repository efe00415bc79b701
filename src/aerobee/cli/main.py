"""`aerobee NOUN VERB …`: arguments → what the other layers are asked to do.

A noun has its module here, with a function per verb, and imports what it needs when it is used:
`aerobee --help` must not wait for a broker's code.
"""

import argparse
import sys
from collections.abc import Sequence

from aerobee.cli import nameserver

_EXAMPLES = """\
examples:
  aerobee nameserver start     a name server on 127.0.0.1:9876
  aerobee nameserver --help    what else a name server can do
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments say: the status of the process."""
    parser = argparse.ArgumentParser(
        prog="aerobee",
        description="RocketMQ for Python people.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    nouns = parser.add_subparsers(title="nouns", metavar="NOUN", required=True)
    nameserver.add_to(nouns)
    parsed = parser.parse_args(arguments)
    status: int = parsed.verb(parsed)
    return status


if __name__ == "__main__":
    sys.exit(main())
