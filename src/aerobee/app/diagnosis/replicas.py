"""The judge of masters and slaves: turns the causes that `aerobee explain broker` finds into
findings with a level and a remedy.

A master without slaves that waits for none is no finding: it is meant so.
"""

from collections.abc import Iterable
from typing import NamedTuple

from aerobee.app.diagnosis.finding import BAD, OK, WARN, Finding
from aerobee.app.explaining.findings import Cause
from aerobee.app.explaining.replica_causes import explain_replicas
from aerobee.client.admin.replica_group import ReplicaGroup
from aerobee.model.replica_status import MasterStatus
from aerobee.protocol.headers.replication import SYNC_MASTER

AREA = "cluster"


class _Remedy(NamedTuple):
    level: str
    change: str
    why: str


_REMEDIES = {
    Cause.NO_MASTER: _Remedy(
        BAD,
        "start the master again, or promote a slave",
        "a slave takes no sends, and delivers no delayed message",
    ),
    Cause.NO_ANSWER: _Remedy(
        BAD,
        "find out why it does not answer, and start it again",
        "clients are sent to it as long as it is registered",
    ),
    Cause.TWO_MASTERS: _Remedy(
        BAD,
        "make it a slave again, before somebody sends to it",
        "what is sent to it is on no other broker, and is cut off when it follows again",
    ),
    Cause.TOO_FEW_COPIES: _Remedy(
        BAD,
        "bring a slave back, or lower inSyncReplicas and accept the risk",
        "sends are refused while fewer brokers than that have what is stored",
    ),
    Cause.NO_PROMISE: _Remedy(
        WARN,
        "set inSyncReplicas=2, or brokerRole=ASYNC_MASTER",
        "the role promises copies that no send waits for",
    ),
    Cause.DIVERGED: _Remedy(
        BAD,
        "save its store aside and have it copy everything; docs/replication.md says how",
        "it holds messages that its master never had, and copies nothing",
    ),
    Cause.NOT_FOLLOWING: _Remedy(
        WARN,
        "look at its log, and at the HA port between the two",
        "messages that it lacks are lost with the master's disk",
    ),
    Cause.SLAVE_BEHIND: _Remedy(
        WARN,
        "look at its disk and at the network between the two",
        "messages that it lacks are lost with the master's disk",
    ),
    Cause.NOT_REGISTERED: _Remedy(
        WARN,
        "set its namesrvAddr to all name servers",
        "consumers cannot go on from a slave that they do not find",
    ),
}


def replica_findings(groups: Iterable[ReplicaGroup]) -> list[Finding]:
    return [
        finding
        for group in groups
        if len(group.members) > 1 or group.master is None or _wants_copies(group)
        for finding in _findings(group)
    ]


def _findings(group: ReplicaGroup) -> list[Finding]:
    subject = f"replicas of {group.name}"
    found = []
    for cause in explain_replicas(group):
        remedy = _REMEDIES.get(cause.cause)
        if remedy is None:
            found.append(Finding(OK, AREA, subject, cause.text.partition(": ")[2]))
        else:
            level, change, why = remedy
            change = f"{change} (`{cause.next}`)"
            found.append(Finding(level, AREA, subject, cause.text, change, why))
    return found


def _wants_copies(group: ReplicaGroup) -> bool:
    """Whether the master of a group waits for slaves, or should by its role."""
    master = group.master
    if master is None or not isinstance(master.status, MasterStatus):
        return False
    return master.role == SYNC_MASTER or master.status.copies_wanted > 1
