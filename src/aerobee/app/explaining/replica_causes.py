"""Causes why the replicas of a broker name are not as they should be: answers → findings, the worst
first.

Pure functions: no request is sent and no clock is read.
"""

from collections.abc import Iterator

from aerobee.app.explaining.findings import Cause, CauseFinding
from aerobee.client.admin.replica_group import ReplicaGroup, ReplicaMember
from aerobee.model.replica_status import DIVERGED, MasterStatus, SlaveStatus
from aerobee.protocol.headers.replication import SYNC_MASTER

BEHIND_MS = 1_000
BEHIND_BYTES = 16 << 20
"""A slave in sync that is further behind than one of these is worth a line."""


def explain_replicas(group: ReplicaGroup) -> list[CauseFinding]:
    """Return all that is wrong with a master and its slaves; if nothing is, that all is well."""
    found = [*_of_master(group), *_of_slaves(group), *_unregistered(group)]
    if not found:
        slaves = len(group.slaves)
        text = f"a master and {slaves} {'slave' if slaves == 1 else 'slaves'}, all in sync"
        if not slaves:
            text = "a master without slaves"
        found.append(CauseFinding(Cause.WELL, f"{group.name}: {text}", _replicas(group)))
    return found


def _of_master(group: ReplicaGroup) -> Iterator[CauseFinding]:
    master = group.master
    if master is None:
        acting = group.acting
        stead = "" if acting is None else f". {acting.address} acts as master"
        yield CauseFinding(
            Cause.NO_MASTER,
            f"no master of {group.name} is registered: nothing can be sent to it, and consumers "
            f"read from its slaves{stead}",
            f"aerobee broker promote {group.name} --dry-run",
        )
        return
    if master.status is None:
        yield _silent(group, master)
    elif isinstance(master.status, SlaveStatus):
        yield CauseFinding(
            Cause.NO_MASTER,
            f"{master.address} is registered as the master of {group.name} and is a slave: nothing "
            "can be sent to it",
            f"aerobee broker promote {group.name} --dry-run",
        )
    else:
        yield from _of_promise(group, master, master.status)


def _of_promise(
    group: ReplicaGroup, master: ReplicaMember, status: MasterStatus
) -> Iterator[CauseFinding]:
    """Yield findings about the copies that a send waits for."""
    copies = 1 + status.in_sync
    if copies < status.copies_wanted:
        there = "no slave is connected" if not status.replicas else "too few slaves are in sync"
        yield CauseFinding(
            Cause.TOO_FEW_COPIES,
            f"{there}: {group.name} has {copies} of {status.copies_wanted} copies, and refuses "
            "sends until it has enough",
            f"{_replicas(group)} --watch",
        )
    if master.role == SYNC_MASTER and status.copies_wanted <= 1:
        yield CauseFinding(
            Cause.NO_PROMISE,
            f"{master.address} is SYNC_MASTER with inSyncReplicas=1, which counts only itself: "
            "a send waits for no slave. inSyncReplicas=2 in its file, and a restart, wait for one",
            _replicas(group),
        )
    if group.slaves and not status.replicas and status.copies_wanted <= 1:
        yield CauseFinding(
            Cause.NOT_FOLLOWING,
            f"no slave of {group.name} is connected to its master: messages that they lack are "
            f"lost with {master.address}",
            _replicas(group),
        )


def _of_slaves(group: ReplicaGroup) -> Iterator[CauseFinding]:
    for slave in group.slaves:
        if slave.status is None:
            yield _silent(group, slave)
        elif isinstance(slave.status, MasterStatus):
            yield CauseFinding(
                Cause.TWO_MASTERS,
                f"{slave.address} is registered as slave {slave.broker_id} of {group.name} and "
                "says that it is a master",
                f"aerobee broker demote {slave.address} --dry-run",
            )
        elif slave.status.state == DIVERGED:
            yield CauseFinding(
                Cause.DIVERGED,
                f"the slave {slave.address} has records that its master has not, and copies "
                f"nothing: {slave.status.why or 'it does not say since when'}",
                _replicas(group),
            )
        else:
            yield from _of_standing(group, slave)


def _of_standing(group: ReplicaGroup, slave: ReplicaMember) -> Iterator[CauseFinding]:
    standing = group.standing(slave)
    master = group.master
    is_judged = master is not None and isinstance(master.status, MasterStatus)
    if not standing.is_in_sync and is_judged:
        yield CauseFinding(
            Cause.NOT_FOLLOWING,
            f"the slave {slave.address} of {group.name} is not in sync: {standing.why}",
            _replicas(group),
        )
    elif standing.lag_bytes > BEHIND_BYTES or standing.lag_ms > BEHIND_MS:
        lag = f"{standing.lag_bytes} bytes"
        if standing.lag_ms > 0:
            lag += f" and {standing.lag_ms} ms"
        yield CauseFinding(
            Cause.SLAVE_BEHIND,
            f"the slave {slave.address} of {group.name} is {lag} behind",
            f"{_replicas(group)} --watch",
        )


def _unregistered(group: ReplicaGroup) -> Iterator[CauseFinding]:
    count = group.unregistered
    if count:
        slaves = "a slave is" if count == 1 else f"{count} slaves are"
        yield CauseFinding(
            Cause.NOT_REGISTERED,
            f"{slaves} connected to the master of {group.name} and registered with no name server: "
            "consumers cannot find it",
            "aerobee nameserver list",
        )


def _silent(group: ReplicaGroup, member: ReplicaMember) -> CauseFinding:
    return CauseFinding(
        Cause.NO_ANSWER,
        f"{member.address} is registered as id {member.broker_id} of {group.name} and does not "
        f"answer: {member.problem}",
        _replicas(group),
    )


def _replicas(group: ReplicaGroup) -> str:
    return f"aerobee broker replicas {group.name}"
