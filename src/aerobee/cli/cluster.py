"""`aerobee cluster …`: the brokers that are alive.

One line for each address, with what its broker says of itself.
"""

import argparse
from typing import TYPE_CHECKING

from aerobee.cli.output import Record
from aerobee.cli.verbs import Verbs, add_noun, add_verb, add_watch, show

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin

_EXAMPLES = """\
  aerobee cluster list                    every broker, its address and how busy it is
  aerobee cluster list --watch 2          the same, every two seconds
  aerobee cluster list -n 10.0.0.1:9876 -o json
"""


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "cluster", "the brokers that are alive", _EXAMPLES)
    add_watch(add_verb(verbs, "list", "every broker, its address and how busy it is", list_brokers))


def list_brokers(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        running = await admin.brokers.runtime()
        records: list[Record] = []
        for broker in (await admin.cluster()).brokers:
            info = running.get(broker.name)
            for number, address in sorted(broker.addresses.items()):
                records.append(
                    {
                        "cluster": broker.cluster,
                        "broker": broker.name,
                        "id": number,
                        "address": address,
                        "version": info.version if info else None,
                        "in/s": info.sends_a_second if info else None,
                        "out/s": info.receives_a_second if info else None,
                        "disk": f"{info.disk_used_ratio:.0%}" if info else None,
                    }
                )
        return records

    return show(parsed, ask, empty="no broker is alive")
