"""`aerobee nameserver`: run one, or see how it would be configured.

Mistakes in the configuration go to stderr, all of them, one line each.
"""

import argparse
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aerobee.app.nameserver_settings import NameServerSettings

_EXAMPLES = """\
examples:
  aerobee nameserver start                           on 127.0.0.1:9876
  aerobee nameserver start -c conf/namesrv.conf      as RocketMQ's own file says
  aerobee nameserver start --host 0.0.0.0            reachable from other machines
  AEROBEE_NAMESRV_LISTEN_PORT=9877 aerobee nameserver start
  aerobee nameserver config -c conf/namesrv.conf     what would hold, and where it comes from
"""


def add_to(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    text = "tell clients which broker has which topic"
    noun = nouns.add_parser(
        "nameserver",
        help=text,
        description=text,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = noun.add_subparsers(title="verbs", metavar="VERB", required=True)
    for name, verb, text in (
        ("start", start, "run a name server in the foreground"),
        ("config", print_config, "print the configuration that would hold"),
    ):
        parser = verbs.add_parser(
            name,
            help=text,
            description=text,
            epilog=_EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.add_argument("-c", "--config", metavar="FILE", help="RocketMQ's namesrv.conf")
        parser.add_argument("--host", help="address to listen on (127.0.0.1)")
        parser.add_argument("--port", metavar="N", help="port to listen on (9876; 0: any)")
        parser.set_defaults(verb=verb)


def start(parsed: argparse.Namespace) -> int:
    from aerobee.app import lifecycle, log_setup
    from aerobee.app.nameserver_process import NameServerPart

    settings = _settings(parsed)
    if settings is None:
        return lifecycle.WRONG_CONFIG
    log_setup.set_up_logs()
    return lifecycle.run([NameServerPart(settings)])


def print_config(parsed: argparse.Namespace) -> int:
    from aerobee.app import lifecycle

    settings = _settings(parsed)
    if settings is None:
        return lifecycle.WRONG_CONFIG
    for key in settings.ignored:
        print(f"# {key} has no meaning here")
    print(settings.effective, end="")
    return 0


def _settings(parsed: argparse.Namespace) -> "NameServerSettings | None":
    """None: it was said what is wrong."""
    from aerobee.app.config import BadConfig, Given
    from aerobee.app.nameserver_settings import read_settings

    flags = [
        Given(key, text, f"--{name}")
        for key, name, text in (
            ("bindAddress", "host", parsed.host),
            ("listenPort", "port", parsed.port),
        )
        if text is not None
    ]
    try:
        return read_settings(parsed.config, os.environ, flags)
    except BadConfig as error:
        for mistake in error.mistakes:
            print(f"aerobee: {mistake}", file=sys.stderr)
        return None
