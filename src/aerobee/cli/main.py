"""`aerobee NOUN VERB …`: arguments → what the other layers are asked to do.

A noun has its module here, with a function per verb, and imports what it needs when it is used:
`aerobee --help` must not wait for a broker's code.
"""

import argparse
import sys
from collections.abc import Sequence

from aerobee.cli import broker, cluster, group, message, nameserver, run, topic, up

_EXAMPLES = """\
examples:
  aerobee up                               a name server and a broker, to try things out
  aerobee nameserver start                 a name server on 127.0.0.1:9876
  aerobee broker start -n 127.0.0.1:9876   a broker on 127.0.0.1:10911
  aerobee run billing:app                  handle messages with an application's functions
  aerobee topic create orders              make a topic
  aerobee message send orders hello        send it a message
  aerobee message tail orders              follow it
  aerobee group list                       who consumes, and how far behind
  aerobee broker --help                    what else a broker can do
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
    up.add_to(nouns)
    nameserver.add_to(nouns)
    broker.add_to(nouns)
    run.add_to(nouns)
    for noun in (cluster, topic, group, message):
        noun.add_to(nouns)
    parsed = parser.parse_args(arguments)
    status: int = parsed.verb(parsed)
    return status


if __name__ == "__main__":
    sys.exit(main())
