"""`aerobee proxy`: runs the gRPC service in front of brokers, shows its effective configuration.

Mistakes in the configuration go to stderr, all of them, one line each.
"""

import argparse
import os
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import Verbs
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
    from aerobee.app.settings.proxy_settings import ProxySettings

_EXAMPLES = """\
  aerobee proxy start -n localhost:9876               on 127.0.0.1:8081
  aerobee proxy start -n 'ns1:9876;ns2:9876' --port 8082
  aerobee proxy start -c conf/rmq-proxy.json          as RocketMQ's own file says
  AEROBEE_PROXY_NAMESRV_ADDR=ns1:9876 aerobee proxy start
  aerobee proxy config -c conf/rmq-proxy.json         what would hold, and where it comes from
"""
_FILE = Flag("config", "", "RocketMQ's rmq-proxy.json, or a file of key=value", "FILE", "-c")
_SETTINGS = (
    Flag("nameserver", "namesrvAddr", "name servers, with ; in between", "HOST:PORT;…", "-n"),
    Flag("host", "bindAddress", "address to listen on (127.0.0.1)"),
    INSECURE,
    Flag("port", "grpcServerPort", "port to listen on (8081; 0: any)", "N"),
    Flag("cluster", "rocketMQClusterName", "cluster of its brokers (DefaultCluster)", "NAME"),
)


def add_to(nouns: Verbs) -> None:
    text = "serve clients of gRPC in front of any brokers"
    verbs = add_server(nouns, "proxy", text, _EXAMPLES)
    for name, verb, text in (
        ("start", start, "run a proxy in the foreground"),
        ("config", print_config, "print the configuration that would hold"),
    ):
        add_server_verb(verbs, name, text, verb, (_FILE, *_SETTINGS), _EXAMPLES)


def start(parsed: argparse.Namespace) -> int:
    from aerobee.app.proxy.proxy_process import ProxyPart

    return serve(_settings(parsed), lambda settings: ([ProxyPart(settings)], []))


def print_config(parsed: argparse.Namespace) -> int:
    return print_settings(_settings(parsed))


def _settings(parsed: argparse.Namespace) -> "ProxySettings | None":
    from aerobee.app.settings.proxy_settings import read_settings

    flags = given(parsed, _SETTINGS)
    return settings_from(lambda: read_settings(parsed.config, os.environ, flags))
