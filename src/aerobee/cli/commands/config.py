"""`aerobee config …`: lists the settings of servers, their meaning, and their effective values.

Names are RocketMQ's. For the values in running servers: `aerobee broker config get`.
"""

import argparse
import os
import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import Verbs, add_local_verb, add_noun, write_shown
from aerobee.cli.output import OK, TABLE, Record, WrongUse, write_report
from aerobee.errors import NotFound

if TYPE_CHECKING:
    from aerobee.app.settings.known_settings import KnownSetting

_EXAMPLES = """\
  aerobee config list broker                      every setting, its default, what it takes
  aerobee config list broker --live               those that can be changed while it runs
  aerobee config explain flushDiskType
  aerobee config show broker -c conf/broker.conf   what would hold, and where it comes from
"""
_SERVERS = ("broker", "nameserver")


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "config", "settings: which there are, what they mean", _EXAMPLES)
    listing = add_local_verb(verbs, "list", "the settings of a server", list_settings)
    listing.add_argument("server", choices=_SERVERS)
    listing.add_argument("--live", action="store_true", help="can be changed while it runs")
    listing.add_argument("--filter", default="", metavar="TEXT", help="only those with it")
    explaining = add_local_verb(verbs, "explain", "what a setting means", explain)
    explaining.add_argument("key")
    showing = add_local_verb(verbs, "show", "what would hold, and where it comes from", show)
    showing.add_argument("server", choices=_SERVERS)
    showing.add_argument("-c", "--config", metavar="FILE", help="RocketMQ's own file")
    showing.add_argument("--changed", action="store_true", help="only what is not the default")


def list_settings(parsed: argparse.Namespace) -> int:
    from aerobee.app.settings.known_settings import known_settings

    records = [
        {
            "key": one.key,
            "default": one.default,
            "is_live": one.is_live,
            "wanted": one.wanted,
            "meaning": one.meaning,
        }
        for one in known_settings(parsed.server)
        if (one.is_live or not parsed.live) and parsed.filter.lower() in one.key.lower()
    ]
    write_shown(parsed, records, empty="no such setting")
    return OK


def explain(parsed: argparse.Namespace) -> int:
    from aerobee.app.settings.known_settings import SERVERS, ignored_settings, known_settings

    found = [one for server in SERVERS for one in known_settings(server) if one.key == parsed.key]
    if found:
        records = [_explained(one) for one in found]
        if parsed.output != TABLE:
            write_shown(parsed, records)
            return OK
        for number, record in enumerate(records):
            sys.stdout.write("\n" if number else "")
            write_report(record, TABLE, sys.stdout)
        return OK
    for server in SERVERS:
        if parsed.key in ignored_settings(server):
            record = {
                "key": parsed.key,
                "server": server,
                "meaning": "RocketMQ has it; here it is taken and means nothing",
            }
            write_shown(parsed, [record])
            return OK
    names = {one.key for server in SERVERS for one in known_settings(server)}
    lower = {name.lower(): name for name in names}
    close = [lower[one] for one in get_close_matches(parsed.key.lower(), lower, n=3)]
    hint = f"did you mean {', '.join(close)}?" if close else "`aerobee config list broker`"
    raise NotFound(f"there is no setting {parsed.key!r}", hint=hint)


def show(parsed: argparse.Namespace) -> int:
    from aerobee.app.settings import broker_settings, nameserver_settings
    from aerobee.app.settings.config import BadConfig
    from aerobee.protocol.text.java_properties import parse_properties

    module = broker_settings if parsed.server == "broker" else nameserver_settings
    try:
        effective = module.read_settings(parsed.config, os.environ, []).effective
    except BadConfig as error:
        raise WrongUse("; ".join(error.mistakes), hint="`aerobee config explain KEY`") from None
    records: list[Record] = []
    lines = effective.splitlines()
    for number, key, value in parse_properties(effective):
        place = lines[number - 2].removeprefix("# ")  # the line before says it
        if place != "default" or not parsed.changed:
            records.append({"key": key, "value": value, "from": place})
    write_shown(parsed, records, empty="everything is as it is by default")
    return OK


def _explained(one: "KnownSetting") -> Record:
    return {
        "key": one.key,
        "server": one.server,
        "meaning": one.meaning,
        "takes": one.wanted,
        "default": one.default,
        "is_live": one.is_live,
        "variable": one.variable,
    }
