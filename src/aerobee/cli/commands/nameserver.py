"""`aerobee nameserver`: runs a name server, shows its effective configuration, asks running ones.

Mistakes in the configuration go to stderr, all of them, one line each.
"""

import argparse
import os
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import Verbs
from aerobee.cli.commands.nameserver_admin import EXAMPLES, add_running
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
    from aerobee.app.settings.nameserver_settings import NameServerSettings

_EXAMPLES = """\
  aerobee nameserver start                           on 127.0.0.1:9876
  aerobee nameserver start -c conf/namesrv.conf      as RocketMQ's own file says
  aerobee nameserver start --host 0.0.0.0            reachable from other machines
  AEROBEE_NAMESRV_LISTEN_PORT=9877 aerobee nameserver start
  aerobee nameserver config -c conf/namesrv.conf     what would hold, and where it comes from
"""
_FILE = Flag("config", "", "RocketMQ's namesrv.conf", "FILE", "-c")
_SETTINGS = (
    Flag("host", "bindAddress", "address to listen on (127.0.0.1)"),
    INSECURE,
    Flag("port", "listenPort", "port to listen on (9876; 0: any)", "N"),
)


def add_to(nouns: Verbs) -> None:
    text = "tell clients which broker has which topic"
    verbs = add_server(nouns, "nameserver", text, _EXAMPLES + EXAMPLES)
    for name, verb, text in (
        ("start", start, "run a name server in the foreground"),
        ("config", print_config, "print the configuration that would hold"),
    ):
        parser = add_server_verb(verbs, name, text, verb, (_FILE, *_SETTINGS), _EXAMPLES)
    add_running(verbs, parser)


def start(parsed: argparse.Namespace) -> int:
    from aerobee.app.process.nameserver_process import NameServerPart

    return serve(_settings(parsed), lambda settings: ([NameServerPart(settings)], []))


def print_config(parsed: argparse.Namespace) -> int:
    return print_settings(_settings(parsed))


def _settings(parsed: argparse.Namespace) -> "NameServerSettings | None":
    from aerobee.app.settings.nameserver_settings import read_settings

    flags = given(parsed, _SETTINGS)
    return settings_from(lambda: read_settings(parsed.config, os.environ, flags))
