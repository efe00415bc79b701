"""`aerobee nameserver …` of name servers that run: whether they answer, what they are told and what
they keep for others.

They tell each other nothing: what is changed is changed in each of those that -n names.
"""

import argparse
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import (
    Verbs,
    add_care,
    add_verb,
    add_watch,
    asked,
    do,
    do_with_care,
    show,
)
from aerobee.cli.output import OK, UNHEALTHY, Record
from aerobee.cli.setting_changes import check_keys, pairs_in, setting_records, shown_changes
from aerobee.errors import NotFound

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin

EXAMPLES = """\
  aerobee nameserver list -n 'a:9876;b:9876'         whether they answer
  aerobee nameserver config get                      settings of those that run
  aerobee nameserver config set orderMessageEnable=true --dry-run
  aerobee nameserver kv put shop colour red          what they keep for others
  aerobee nameserver kv list shop
"""


def add_running(verbs: Verbs, config: argparse.ArgumentParser) -> None:
    """Verbs beside those that run a name server, and below its `config`."""
    add_watch(add_verb(verbs, "list", "name servers; status 4 if one is silent", list_servers))
    of_running = config.add_subparsers(title="of running name servers", metavar="get|set")
    getting = add_verb(of_running, "get", "settings of running name servers", get_settings)
    getting.add_argument("key", nargs="*", help="these (all)")
    setting = add_verb(of_running, "set", "change settings of name servers", set_settings)
    setting.add_argument("settings", nargs="+", metavar="KEY=VALUE")
    add_care(setting)
    text = "values that name servers keep for others"
    keeping = verbs.add_parser("kv", help=text, description=text)
    kept = keeping.add_subparsers(title="verbs", metavar="VERB", required=True)
    listing = add_verb(kept, "list", "everything in a namespace", list_values)
    listing.add_argument("namespace")
    for name, text, verb, words in (
        ("get", "one value", get_value, ("namespace", "key")),
        ("put", "keep a value, in each name server", put_value, ("namespace", "key", "value")),
        ("delete", "forget a value, in each name server", delete_value, ("namespace", "key")),
    ):
        parser = add_verb(kept, name, text, verb)
        for word in words:
            parser.add_argument(word)
        if name == "delete":
            add_care(parser)


def list_servers(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        return [
            {"name_server": address, "is_well": fault is None, "fault": fault}
            for address, fault in (await admin.name_servers.answering()).items()
        ]

    return show(
        parsed,
        ask,
        status=lambda records: OK if all(one["is_well"] for one in records) else UNHEALTHY,
    )


def get_settings(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        return setting_records("nameserver", await admin.name_servers.config(), parsed.key)

    return show(parsed, ask)


def set_settings(parsed: argparse.Namespace) -> int:
    changes = pairs_in(parsed.settings, "KEY=VALUE")
    known = asked(parsed, lambda admin: admin.name_servers.config())
    check_keys("nameserver", changes, known, is_only_misspelt=True)

    async def act(admin: "Admin") -> None:
        await admin.name_servers.set_config(changes)

    effect = f"set {shown_changes(changes, known)} in {', '.join(known)}"
    return do_with_care(parsed, act, effect, f"{', '.join(changes)} changed in {', '.join(known)}")


def list_values(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        found = await admin.name_servers.values(parsed.namespace)
        return [{"key": key, "value": value} for key, value in sorted(found.items())]

    return show(parsed, ask, empty=f"nothing is kept in {parsed.namespace}")


def get_value(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        return [{"key": parsed.key, "value": await _value(admin, parsed)}]

    return show(parsed, ask)


def put_value(parsed: argparse.Namespace) -> int:
    async def act(admin: "Admin") -> None:
        await admin.name_servers.put_value(parsed.namespace, parsed.key, parsed.value)

    return do(parsed, act, f"{parsed.key} is kept in {parsed.namespace}")


def delete_value(parsed: argparse.Namespace) -> int:
    value = asked(parsed, lambda admin: _value(admin, parsed))

    async def act(admin: "Admin") -> None:
        await admin.name_servers.delete_value(parsed.namespace, parsed.key)

    effect = f"forget {parsed.key}, which is {value!r}, in {parsed.namespace}"
    return do_with_care(parsed, act, effect, f"{parsed.key} is forgotten")


async def _value(admin: "Admin", parsed: argparse.Namespace) -> str:
    found = await admin.name_servers.value(parsed.namespace, parsed.key)
    if found is None:
        raise NotFound(
            f"nothing is kept for {parsed.key!r} in {parsed.namespace!r}",
            hint=f"`aerobee nameserver kv list {parsed.namespace}` shows what is",
        )
    return found
