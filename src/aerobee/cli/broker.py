"""`aerobee broker`: run one, or see how it would be configured.

Mistakes in the configuration go to stderr, all of them, one line each.
"""

import argparse
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aerobee.app.broker_settings import BrokerSettings

_EXAMPLES = """\
examples:
  aerobee broker start -n 127.0.0.1:9876          on 127.0.0.1:10911, messages in ~/store
  aerobee broker start -c conf/broker.conf        as RocketMQ's own file says
  aerobee broker start -n HOST:9876 --host 0.0.0.0 --store /data/store
  AEROBEE_BROKER_FLUSH_DISK_TYPE=SYNC_FLUSH aerobee broker start -n 127.0.0.1:9876
  aerobee broker config -c conf/broker.conf       what would hold, and where it comes from
"""


def add_to(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    text = "take messages, keep them, hand them out"
    noun = nouns.add_parser(
        "broker",
        help=text,
        description=text,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = noun.add_subparsers(title="verbs", metavar="VERB", required=True)
    for name, verb, text in (
        ("start", start, "run a broker in the foreground"),
        ("config", print_config, "print the configuration that would hold"),
    ):
        parser = verbs.add_parser(
            name,
            help=text,
            description=text,
            epilog=_EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.add_argument("-c", "--config", metavar="FILE", help="RocketMQ's broker.conf")
        parser.add_argument(
            "-n", "--nameserver", metavar="HOST:PORT;…", help="name servers, with ; in between"
        )
        parser.add_argument("--host", help="address to listen on (127.0.0.1)")
        parser.add_argument(
            "--port", metavar="N", help="port to listen on (10911; 0: any), and the one two below"
        )
        parser.add_argument("--store", metavar="DIR", help="where messages are kept (~/store)")
        parser.set_defaults(verb=verb)


def start(parsed: argparse.Namespace) -> int:
    from aerobee.app import lifecycle, log_setup
    from aerobee.app.broker_process import BrokerPart
    from aerobee.service.broker.assembly import build_broker

    settings = _settings(parsed)
    if settings is None:
        return lifecycle.WRONG_CONFIG
    log_setup.set_up_logs()
    return lifecycle.run([BrokerPart(settings, build_broker)])


def print_config(parsed: argparse.Namespace) -> int:
    from aerobee.app import lifecycle

    settings = _settings(parsed)
    if settings is None:
        return lifecycle.WRONG_CONFIG
    for key in settings.ignored:
        print(f"# {key} has no meaning here")
    print(settings.effective, end="")
    return 0


def _settings(parsed: argparse.Namespace) -> "BrokerSettings | None":
    """None: it was said what is wrong."""
    from aerobee.app.broker_settings import read_settings
    from aerobee.app.config import BadConfig, Given

    flags = [
        Given(key, text, f"--{name}")
        for key, name, text in (
            ("bindAddress", "host", parsed.host),
            ("listenPort", "port", parsed.port),
            ("namesrvAddr", "nameserver", parsed.nameserver),
            ("storePathRootDir", "store", parsed.store),
        )
        if text is not None
    ]
    try:
        return read_settings(parsed.config, os.environ, flags)
    except BadConfig as error:
        for mistake in error.mistakes:
            print(f"aerobee: {mistake}", file=sys.stderr)
        return None
