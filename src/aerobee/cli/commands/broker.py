"""`aerobee broker`: runs a broker, shows its effective configuration, asks running brokers.

Mistakes in the configuration go to stderr, all of them, one line each.
"""

import argparse
import os
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import Verbs
from aerobee.cli.commands import broker_admin, broker_convert, broker_members, broker_replicas
from aerobee.cli.server_verbs import (
    INSECURE,
    Flag,
    add_server,
    add_server_verb,
    given,
    print_settings,
    serve,
    settings_from,
)

if TYPE_CHECKING:
    from aerobee.app.settings.broker_settings import BrokerSettings

_EXAMPLES = """\
  aerobee broker start -n 127.0.0.1:9876          on 127.0.0.1:10911, messages in ~/store
  aerobee broker start -c conf/broker.conf        as RocketMQ's own file says
  aerobee broker start -n HOST:9876 --host 0.0.0.0 --insecure     open to everybody
  AEROBEE_BROKER_FLUSH_DISK_TYPE=SYNC_FLUSH aerobee broker start -n HOST:9876
  aerobee broker config -c conf/broker.conf       what would hold, and where it comes from
"""
_FILE = Flag("config", "", "RocketMQ's broker.conf", "FILE", "-c")
_SETTINGS = (
    Flag("nameserver", "namesrvAddr", "name servers, with ; in between", "HOST:PORT;…", "-n"),
    Flag("host", "bindAddress", "address to listen on (127.0.0.1)"),
    INSECURE,
    Flag("port", "listenPort", "port to listen on (10911; 0: any), and the one two below", "N"),
    Flag("store", "storePathRootDir", "where messages are kept (~/store)", "DIR"),
)


def add_to(nouns: Verbs) -> None:
    examples = _EXAMPLES + broker_admin.EXAMPLES + broker_replicas.EXAMPLES
    examples += broker_members.EXAMPLES + broker_convert.EXAMPLES
    verbs = add_server(nouns, "broker", "take messages, keep them, hand them out", examples)
    for name, verb, text in (
        ("start", start, "run a broker in the foreground"),
        ("config", print_config, "print the configuration that would hold"),
    ):
        parser = add_server_verb(verbs, name, text, verb, (_FILE, *_SETTINGS), _EXAMPLES)
    broker_admin.add_running(verbs, parser)
    broker_replicas.add_replicas(verbs)
    broker_members.add_members(verbs)
    broker_convert.add_convert(verbs)


def start(parsed: argparse.Namespace) -> int:
    from aerobee.app.process.broker_process import BrokerPart
    from aerobee.service.broker.assembly import build_broker

    return serve(_settings(parsed), lambda settings: ([BrokerPart(settings, build_broker)], []))


def print_config(parsed: argparse.Namespace) -> int:
    return print_settings(_settings(parsed))


def _settings(parsed: argparse.Namespace) -> "BrokerSettings | None":
    from aerobee.app.settings.broker_settings import read_settings

    flags = given(parsed, _SETTINGS)
    return settings_from(lambda: read_settings(parsed.config, os.environ, flags))
