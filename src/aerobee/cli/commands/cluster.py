"""`aerobee cluster …`: lists the brokers of a cluster and checks its health.

`health` exits with 4 if it finds a problem: a name server that does not answer, a broker without a
master, a disk that is nearly full, a slave that is far behind.
"""

import argparse
import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import Verbs, add_noun, add_verb, add_watch, show, show_report
from aerobee.cli.output import OK, UNHEALTHY, Record, Whole
from aerobee.errors import AerobeeError
from aerobee.model.names import DEAD_LETTER_PREFIX, RETRY_PREFIX, is_system_group

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin
    from aerobee.model.route import BrokerData

_EXAMPLES = """\
  aerobee cluster info                    what there is, in a few lines
  aerobee cluster list                    every broker, its address and how busy it is
  aerobee cluster list --watch            the same, every two seconds
  aerobee cluster health || echo "call somebody"
  aerobee cluster health -n 10.0.0.1:9876 -o json
"""
# Where brokers begin to delete before it is time, and a step before they refuse.
DISK_RATIO_MAX = 0.85
BEHIND_BYTES_MAX = 256 << 20


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "cluster", "what there is in all, and whether it is well", _EXAMPLES)
    add_watch(add_verb(verbs, "info", "what there is, in a few lines", show_info))
    add_watch(add_verb(verbs, "list", "every broker, its address and how busy it is", list_brokers))
    add_watch(add_verb(verbs, "health", "what is not well; status 4 if anything is", show_health))


async def broker_records(admin: "Admin") -> list[Record]:
    """Return every address of every broker, with figures of its master."""
    from aerobee.client.admin.brokers import RuntimeInfo

    records: list[Record] = []
    for broker in (await admin.cluster()).brokers:
        info: RuntimeInfo | None = None
        # One that does not answer is in the list, with nothing to say.
        with contextlib.suppress(AerobeeError, KeyError):
            info = (await admin.brokers.runtime(on=broker.name))[broker.name]
        for number, address in sorted(broker.addresses.items()):
            records.append(
                {
                    "cluster": broker.cluster,
                    "broker": broker.name,
                    "id": number,
                    "address": Whole(address),
                    "version": info.version if info else None,
                    "sends_per_s": info.sends_a_second if info else None,
                    "receives_per_s": info.receives_a_second if info else None,
                    "disk": f"{info.disk_used_ratio:.0%}" if info else None,
                }
            )
    return records


def list_brokers(parsed: argparse.Namespace) -> int:
    return show(parsed, broker_records, empty="no broker is alive")


def show_info(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> Record:
        names = await admin.topics.names()
        system = set(await admin.topics.system_names())
        derived = (RETRY_PREFIX, DEAD_LETTER_PREFIX)
        own = [name for name in names if name not in system and not name.startswith(derived)]
        groups = [name for name in await admin.groups.names() if not is_system_group(name)]
        progress = await admin.groups.progress_of_all()
        runtime = (await admin.brokers.runtime()).values()
        info = await admin.cluster()
        return {
            "name_servers": list(await admin.name_servers.answering()),
            "clusters": sorted(info.names_by_cluster()),
            "brokers": len(info.brokers),
            "topics": len(own),
            "groups": len(groups),
            "lag": sum(one.lag for one in progress.values()),
            "dead_letter_groups": sum(name.startswith(DEAD_LETTER_PREFIX) for name in names),
            "sends_per_s": sum(one.sends_a_second for one in runtime),
            "receives_per_s": sum(one.receives_a_second for one in runtime),
            "versions": sorted({one.version for one in runtime}),
        }

    return show_report(parsed, ask)


def show_health(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        records = [
            _checked("name server", address, error)
            for address, error in (await admin.name_servers.answering()).items()
        ]
        if not any(one["is_well"] for one in records):
            return records  # nobody is left to ask
        for broker in (await admin.cluster()).brokers:
            records += await _broker_health(admin, broker)
        if not any(one["kind"] == "broker" for one in records):
            records.append(_checked("broker", "", "no broker is registered"))
        return records

    return show(parsed, ask, status=_health_status)


async def _broker_health(admin: "Admin", broker: "BrokerData") -> list[Record]:
    name = broker.name
    if 0 not in broker.addresses:
        return [_checked("broker", name, "it has no master: nothing can be sent to it")]
    try:
        info = (await admin.brokers.runtime(on=name))[name]
        group = await admin.replicas.group(name)
    except AerobeeError as error:
        return [_checked("broker", name, error.message)]
    found = [_checked("broker", name, None)]
    ratio = info.disk_used_ratio
    is_full = ratio >= DISK_RATIO_MAX
    fault = f"{ratio:.0%} is used: old messages go before their time" if is_full else None
    found.append(_checked("disk", name, fault))
    for slave in group.slaves:
        standing = group.standing(slave)
        fault = standing.why or None
        if not fault and standing.lag_bytes > BEHIND_BYTES_MAX:
            fault = f"{standing.lag_bytes} bytes behind its master"
        found.append(_checked("slave", f"{name} {slave.address}", fault))
    return found


def _checked(kind: str, name: str, fault: str | None) -> Record:
    return {"kind": kind, "name": name, "is_well": fault is None, "fault": fault}


def _health_status(records: Sequence[Record]) -> int:
    return OK if all(record["is_well"] for record in records) else UNHEALTHY
