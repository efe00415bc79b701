"""Decisions before a change of role: the slave that may become the master without a loss, and the
id and the master of a broker that becomes a slave.

P1. Without force only a slave is promoted that has everything any other slave has: every slave has
    answered, and none has a longer log.
P2. Without being told to, no slave is promoted beside a master that answers.

Pure functions: they judge the answers of brokers (`ReplicaGroup`) and change nothing.
"""

from typing import NamedTuple

from aerobee.client.admin.replica_group import ReplicaGroup, ReplicaMember
from aerobee.errors import AerobeeError, NotFound
from aerobee.model.replica_status import MasterStatus, SlaveStatus
from aerobee.model.route import MASTER_ID
from aerobee.protocol.headers.replication import ASYNC_MASTER, SYNC_MASTER


class UnsafeChange(AerobeeError):
    """A change of role that could lose messages, or leave two masters."""


class Promotion(NamedTuple):
    slave: ReplicaMember
    """The one that is to become the master."""
    role: str
    lost_bytes: int = 0
    """The length by which another slave's log exceeds its own."""
    unheard: tuple[ReplicaMember, ...] = ()
    """Slaves that did not answer, whose logs may be longer."""
    living_master: ReplicaMember | None = None


class Demotion(NamedTuple):
    broker: ReplicaMember
    name: str
    broker_id: int
    """The one that it is to have as a slave."""
    master: ReplicaMember


def plan_promotion(group: ReplicaGroup, *, wanted: str = "", role: str = "") -> Promotion:
    """The promotion of the longest slave, or of the one that `wanted` names by its address or id.
    NotFound: there is no such slave, or none that answers.
    """
    longest = group.longest_slaves()
    if not longest:
        raise NotFound(
            f"no slave of {group.name} answers",
            hint="`aerobee broker replicas` shows which there are, and why they do not answer",
        )
    chosen = [one for one in longest if wanted in ("", one.address, str(one.broker_id))]
    if not chosen:
        there = ", ".join(f"{one.address} (id {one.broker_id})" for one in longest)
        raise NotFound(f"{group.name} has no slave {wanted!r} that answers", hint=f"there: {there}")
    slave, master = chosen[0], group.master
    is_alive = master is not None and isinstance(master.status, MasterStatus)
    return Promotion(
        slave,
        role or _role_for(slave, master),
        longest[0].end_offset - slave.end_offset,
        tuple(one for one in group.slaves if not isinstance(one.status, SlaveStatus)),
        master if is_alive else None,
    )


def check_promotion(
    group: ReplicaGroup, plan: Promotion, *, may_be_shorter: bool, may_be_second: bool
) -> None:
    """Raise UnsafeChange, with what to do, where P1 or P2 is against a promotion."""
    slave, master = plan.slave.address, plan.living_master
    if master is not None and not may_be_second:
        raise UnsafeChange(
            f"the master of {group.name} is registered and answers: {master.address}",
            hint="stop it first, or say --beside-master: producers that know the old one "
            "go on sending to it, and what they send there is cut off later",
        )
    if may_be_shorter:
        return
    if plan.lost_bytes:
        longest = group.longest_slaves()[0]
        raise UnsafeChange(
            f"{slave} lacks {plan.lost_bytes} bytes that {longest.address} has",
            hint=f"promote the longest: aerobee broker promote {group.name}; or lose them: "
            f"--force-shorter {group.name}",
        )
    if plan.unheard:
        raise UnsafeChange(
            f"{', '.join(one.address for one in plan.unheard)} did not answer, and may have more "
            f"than {slave}",
            hint="start it and look again; if it is gone for good, "
            f"--force-shorter {group.name} promotes without it",
        )


def plan_demotion(
    broker: ReplicaMember,
    group: ReplicaGroup | None,
    *,
    master: ReplicaMember | None = None,
    broker_id: int = 0,
) -> Demotion:
    """The change of a broker to a slave: of the registered master of its name unless another is
    given, with the smallest free id unless one is given. `group`: the brokers of its name; None:
    none is registered.
    """
    name = broker.settings.get("brokerName", "")
    if broker.status is None:
        raise NotFound(f"{broker.address} does not answer: {broker.problem}", hint="is it running?")
    master = master or (group.master if group is not None else None)
    if master is None or master.address == broker.address:
        raise UnsafeChange(
            f"no other master of {name or broker.address} is registered",
            hint=f"promote a slave first: aerobee broker promote {name or 'BROKER'}; if one is the "
            "master already, and this broker has displaced it, name it: --master HOST:PORT",
        )
    if not isinstance(master.status, MasterStatus):
        why = master.problem or "it says that it is a slave"
        raise UnsafeChange(
            f"{master.address} cannot be followed: {why}",
            hint="name the master with --master, or promote one",
        )
    members = group.members if group is not None else ()
    taken = {one.broker_id for one in members if one.address != broker.address}
    free = next(number for number in range(1, len(taken) + 2) if number not in taken)
    if broker_id in taken and broker_id != MASTER_ID:
        raise UnsafeChange(
            f"another broker of {name} has the id {broker_id}", hint=f"{free} is free"
        )
    return Demotion(broker, name, broker_id or free, master)


def _role_for(slave: ReplicaMember, master: ReplicaMember | None) -> str:
    """The role of the master that is replaced; if that does not answer, as the slave is set up."""
    if master is not None and master.role in (ASYNC_MASTER, SYNC_MASTER):
        return master.role
    copies = slave.settings.get("inSyncReplicas", "1")
    return SYNC_MASTER if copies.isdigit() and int(copies) > 1 else ASYNC_MASTER
