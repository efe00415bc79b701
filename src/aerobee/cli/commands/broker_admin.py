"""`aerobee broker …` of brokers that run: who there is, how they do, what they are told.

Without `--on`, what is asked or changed is asked of or changed in all masters. What is said here of
settings is of running brokers; `aerobee broker config` alone says what would hold in a new one.
"""

import argparse
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import (
    Verbs,
    add_care,
    add_verb,
    add_watch,
    add_where,
    asked,
    do_with_care,
    show,
)
from aerobee.cli.commands.cluster import broker_records
from aerobee.cli.output import Record
from aerobee.cli.setting_changes import check_keys, pairs_in, setting_records, shown_changes
from aerobee.errors import NotFound

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin

EXAMPLES = """\
  aerobee broker list                             who there is, and how busy
  aerobee broker stats broker-a --watch           all figures of one
  aerobee broker config get flushDiskType --on broker-a
  aerobee broker config set fileReservedTime=48 --dry-run
  aerobee broker drain broker-a                   have producers leave it; undrain: come back
  aerobee broker clean expired-log --on broker-a
"""
_CLEANABLE = {
    "unused-topics": "queues of topics that are in no table",
    "expired-queues": "queue files whose messages are gone",
    "expired-log": "log files that have expired, now and not at the usual hour",
}


def add_running(verbs: Verbs, config: argparse.ArgumentParser) -> None:
    """Verbs beside those that run a broker, and below its `config`."""
    add_watch(add_verb(verbs, "list", "who there is, and how busy", list_brokers))
    stats = add_verb(verbs, "stats", "the figures of a broker", show_stats)
    stats.add_argument("broker", nargs="?", help="a broker, a cluster or host:port (all)")
    stats.add_argument("--filter", default="", metavar="TEXT", help="only figures with it")
    add_watch(stats)
    for name, text in (
        ("drain", "have producers leave a broker; consumers go on"),
        ("undrain", "have producers come back to a broker"),
    ):
        parser = add_verb(verbs, name, text, drain)
        parser.add_argument("broker")
        parser.set_defaults(is_open=name == "undrain")
        add_care(parser)
    cleaning = add_verb(verbs, "clean", "have brokers let go of what nobody needs", clean)
    cleaning.add_argument("what", choices=tuple(_CLEANABLE))
    add_where(cleaning)
    add_care(cleaning)
    of_running = config.add_subparsers(title="of running brokers", metavar="get|set")
    getting = add_verb(of_running, "get", "settings of running brokers", get_settings)
    getting.add_argument("key", nargs="*", help="these (all)")
    add_where(getting)
    setting = add_verb(of_running, "set", "change settings of running brokers", set_settings)
    setting.add_argument("settings", nargs="+", metavar="KEY=VALUE")
    add_where(setting)
    add_care(setting)


def list_brokers(parsed: argparse.Namespace) -> int:
    return show(parsed, broker_records, empty="no broker is alive")


def show_stats(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        found = await admin.brokers.runtime(on=parsed.broker)
        return [
            {"broker": broker, "figure": name, "value": value}
            for broker, info in sorted(found.items())
            for name, value in sorted(info.figures.items())
            if parsed.filter.lower() in name.lower()
        ]

    return show(parsed, ask, empty=f"no figure has {parsed.filter!r} in its name")


def get_settings(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        return setting_records("broker", await admin.brokers.config(on=parsed.on), parsed.key)

    return show(parsed, ask)


def set_settings(parsed: argparse.Namespace) -> int:
    changes = pairs_in(parsed.settings, "KEY=VALUE")
    known = asked(parsed, lambda admin: admin.brokers.config(on=parsed.on))
    check_keys("broker", changes, known, is_only_misspelt=True)

    async def act(admin: "Admin") -> None:
        await admin.brokers.set_config(changes, on=parsed.on)

    effect = f"set {shown_changes(changes, known)} in {', '.join(known)}"
    done = f"{', '.join(changes)} changed in {', '.join(known)}"
    return do_with_care(parsed, act, effect, done)


def drain(parsed: argparse.Namespace) -> int:
    async def check(admin: "Admin") -> None:
        if parsed.broker not in {broker.name for broker in (await admin.cluster()).brokers}:
            raise NotFound(
                f"there is no broker {parsed.broker!r}", hint="`aerobee broker list` shows them"
            )

    async def act(admin: "Admin") -> None:
        if parsed.is_open:
            await admin.brokers.allow_writes(parsed.broker)
        else:
            await admin.brokers.forbid_writes(parsed.broker)

    asked(parsed, check)
    verb = "come back to" if parsed.is_open else "leave"
    effect = f"have producers {verb} {parsed.broker}, in all its topics"
    return do_with_care(parsed, act, effect, f"producers {verb} {parsed.broker}")


def clean(parsed: argparse.Namespace) -> int:
    async def act(admin: "Admin") -> None:
        cleaners = {
            "unused-topics": admin.brokers.clean_unused_topics,
            "expired-queues": admin.brokers.clean_expired_queues,
            "expired-log": admin.brokers.delete_expired_log,
        }
        await cleaners[parsed.what](on=parsed.on)

    where = ", ".join(parsed.on) if parsed.on else "all brokers"
    effect = f"delete in {where}: {_CLEANABLE[parsed.what]}"
    return do_with_care(parsed, act, effect, f"{parsed.what} cleaned in {where}")
