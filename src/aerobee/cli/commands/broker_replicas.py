"""`aerobee broker replicas`, `promote`, `demote` and `transfer`: shows masters and slaves, and
changes roles.

A slave is promoted by a person. The logs of all slaves are compared first, and a change that could
lose messages or leave two masters is refused unless a flag asks for it. Members of a Raft group
elect their leader; `transfer` has another one lead, loses nothing, and asks nobody whether it is
meant.
"""

import argparse
import contextlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import (
    Verbs,
    add_care,
    add_verb,
    add_watch,
    agrees,
    asked,
    say,
    show,
    whole_from,
)
from aerobee.cli.output import FAILED, OK, Record, Whole, WrongUse
from aerobee.errors import AerobeeError, NotFound
from aerobee.model.replica_status import UNKNOWN, MasterStatus
from aerobee.model.route import MASTER_ID
from aerobee.protocol.headers.replication import ASYNC_MASTER, SLAVE, SYNC_MASTER

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin
    from aerobee.client.admin.promotion import Demotion, Promotion
    from aerobee.client.admin.replica_group import ReplicaGroup, ReplicaMember
    from aerobee.protocol.headers.replication import ChangedRoleHeader

EXAMPLES = """\
  aerobee broker replicas                         masters and slaves, and how far each is
  aerobee broker replicas broker-a --watch        until the slave has caught up
  aerobee broker promote broker-a --dry-run       which slave it would be, and what is lost
  aerobee broker promote broker-a                 make the longest slave the master
  aerobee broker demote 10.0.0.1:10911            have the old master follow the new one
  aerobee broker transfer broker-a --to 2         have another member of a Raft group lead
"""
_ANY_MEMBER = -1
HEARD_SECONDS_MAX = 10.0
LOOK_SECONDS = 0.1


def add_replicas(verbs: Verbs) -> None:
    replicas = add_verb(verbs, "replicas", "masters and slaves, and how far each is", show_replicas)
    replicas.add_argument("broker", nargs="?", help="a broker or a cluster (all)")
    add_watch(replicas)
    promotion = add_verb(verbs, "promote", "make a slave the master of its name", promote)
    promotion.add_argument("broker", help="the name of the broker")
    promotion.add_argument("--slave", metavar="ID|HOST:PORT", help="this one (the longest)")
    promotion.add_argument(
        "--role",
        choices=(ASYNC_MASTER, SYNC_MASTER),
        help="what it is to be (as the old master was, or by its own inSyncReplicas)",
    )
    promotion.add_argument(
        "--force-shorter",
        metavar="NAME",
        help="although another slave has, or may have, more; the broker's name once more",
    )
    promotion.add_argument(
        "--beside-master",
        action="store_true",
        help="although the old master is registered and answers",
    )
    add_care(promotion)
    demotion = add_verb(verbs, "demote", "have an old master follow the new one", demote)
    demotion.add_argument("address", metavar="HOST:PORT", help="the old master")
    demotion.add_argument(
        "--master", metavar="HOST:PORT", help="the new one, where name servers do not show it"
    )
    demotion.add_argument("--id", type=whole_from(1), help="as a slave (the smallest that is free)")
    add_care(demotion)
    moving = add_verb(verbs, "transfer", "have another member of a Raft group lead", transfer)
    moving.add_argument("broker", help="the name of the broker")
    moving.add_argument(
        "--to", type=whole_from(1), metavar="ID", help="the broker id of a follower (the nearest)"
    )


def show_replicas(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        groups = await admin.replicas.groups(on=parsed.broker)
        return [record for group in groups for record in replica_records(group)]

    return show(parsed, ask, empty="no broker is alive")


def replica_records(group: "ReplicaGroup") -> Iterable[Record]:
    """Return a record for each broker of a name, the master first."""
    for member in group.members:
        record: dict[str, object] = {
            "broker": group.name,
            "id": member.broker_id,
            "address": Whole(member.address),
            "role": member.role or None,
            "offset": _known(member.end_offset),
            "lag_bytes": None,
            "lag_ms": None,
            "in_sync": None,
            "why": member.problem or None,
        }
        if member in group.slaves:
            standing = group.standing(member)
            record["lag_bytes"] = _known(standing.lag_bytes)
            record["lag_ms"] = _known(standing.lag_ms)
            record["in_sync"] = standing.is_in_sync
            record["why"] = standing.why or None
        elif isinstance(member.status, MasterStatus):
            record["why"] = _missing_copies(member.status)
        yield record


def _missing_copies(status: MasterStatus) -> str | None:
    copies = 1 + status.in_sync
    if copies >= status.copies_wanted:
        return None
    return f"{copies} of {status.copies_wanted} copies: sends are refused"


def _known(number: int) -> int | None:
    return None if number == UNKNOWN else number


def promote(parsed: argparse.Namespace) -> int:
    from aerobee.client.admin.promotion import check_promotion, plan_promotion

    if parsed.force_shorter not in (None, parsed.broker):
        raise WrongUse(
            f"--force-shorter {parsed.force_shorter} is not the broker that is to be promoted",
            hint=f"say its name once more: --force-shorter {parsed.broker}",
        )
    group = asked(parsed, lambda admin: admin.replicas.group(parsed.broker))
    plan = plan_promotion(group, wanted=parsed.slave or "", role=parsed.role or "")
    check_promotion(
        group,
        plan,
        may_be_shorter=parsed.force_shorter is not None,
        may_be_second=parsed.beside_master,
    )
    effect = _promotion_effect(group, plan)
    if parsed.dry_run:
        say(parsed, f"would {effect}", name="would")
        return OK
    if not agrees(parsed, effect):
        return FAILED
    is_forced = parsed.beside_master or parsed.force_shorter is not None
    address = plan.slave.address

    async def change(admin: "Admin") -> "ChangedRoleHeader":
        old = group.master.address if group.master is not None else None
        term = await admin.name_servers.newest_term(group.cluster, group.name, old)
        return await admin.replicas.change_role(
            address, plan.role, 0, above_term=term, is_forced=is_forced
        )

    changed = asked(parsed, change)
    say(
        parsed,
        f"{address} is the master of {group.name} now ({changed.role}), its log ends at "
        f"{changed.end_offset}; the old master follows it after `aerobee broker demote HOST:PORT`",
    )
    if not asked(parsed, lambda admin: _is_heard_of(admin, group.name, address)):
        raise AerobeeError(
            f"no name server knows {address} as the master of {group.name} yet",
            hint="producers send to it when one does; `aerobee broker replicas` shows it, and its "
            "log says why",
        )
    return OK


async def _is_heard_of(admin: "Admin", name: str, address: str) -> bool:
    """Wait until a name server says that a broker is the master: before, nobody can send to it.
    False: none does in time."""
    import asyncio

    for _ in range(int(HEARD_SECONDS_MAX / LOOK_SECONDS)):
        brokers = (await admin.cluster()).brokers
        if any((one.name, one.addresses.get(MASTER_ID)) == (name, address) for one in brokers):
            return True
        await asyncio.sleep(LOOK_SECONDS)
    return False


def _promotion_effect(group: "ReplicaGroup", plan: "Promotion") -> str:
    slave = plan.slave
    effect = (
        f"make {slave.address} (id {slave.broker_id}, its log ends at {slave.end_offset}) the "
        f"{plan.role} of {group.name}"
    )
    if plan.role == ASYNC_MASTER:
        effect += ", which waits for no slave"
    if plan.lost_bytes:
        effect += f" and lose {plan.lost_bytes} bytes that another slave has"
    if plan.unheard:
        silent = ", ".join(one.address for one in plan.unheard)
        effect += f" and lose what only {silent} has, which does not answer"
    if plan.living_master is not None:
        effect += f" beside {plan.living_master.address}, which answers as the master"
    return effect


def demote(parsed: argparse.Namespace) -> int:
    plan = asked(parsed, lambda admin: _planned_demotion(admin, parsed))
    broker, master = plan.broker, plan.master
    effect = (
        f"make {broker.address} the slave {plan.broker_id} of {master.address}, the master of "
        f"{plan.name}; messages that only {broker.address} has, whose log ends at "
        f"{broker.end_offset} and the master's at {master.end_offset}, are cut off and kept in a "
        "file"
    )
    if parsed.dry_run:
        say(parsed, f"would {effect}", name="would")
        return OK
    if not agrees(parsed, effect):
        return FAILED
    # Without an HA address: name servers tell where the master is, now and later.
    changed = asked(
        parsed,
        lambda admin: admin.replicas.change_role(
            broker.address, SLAVE, plan.broker_id, master_address=master.address
        ),
    )
    say(
        parsed,
        f"{broker.address} is the slave {plan.broker_id} of {master.address} now, its log ends at "
        f"{changed.end_offset}; `aerobee broker replicas {plan.name}` shows how far it is",
    )
    return OK


async def _planned_demotion(admin: "Admin", parsed: argparse.Namespace) -> "Demotion":
    from aerobee.client.admin.promotion import plan_demotion

    broker = await admin.replicas.member(parsed.address)
    name = broker.settings.get("brokerName", "")
    group: ReplicaGroup | None = None
    with contextlib.suppress(NotFound):  # no name server has any broker of that name
        group = await admin.replicas.group(name)
    master: ReplicaMember | None = None
    if parsed.master is not None:
        master = await admin.replicas.member(parsed.master)
    return plan_demotion(broker, group, master=master, broker_id=parsed.id or 0)


def transfer(parsed: argparse.Namespace) -> int:
    group = asked(parsed, lambda admin: admin.replicas.group(parsed.broker))
    answering = [one.address for one in group.members if one.status is not None]
    if not answering:
        raise NotFound(
            f"no broker of {group.name} answers",
            hint="`aerobee broker replicas` shows which there are, and why they do not answer",
        )
    wanted = parsed.to or _ANY_MEMBER
    told = asked(parsed, lambda admin: admin.replicas.elect(answering[0], wanted))
    say(
        parsed,
        f"{told.header.master_address} leads {group.name} in a moment, in a term after"
        f" {told.header.master_epoch}; `aerobee broker replicas {group.name}` shows it",
    )
    return OK
