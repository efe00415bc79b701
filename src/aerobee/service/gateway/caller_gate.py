"""The gate for callers of a proxy process: its users are those that its settings name.

A proxy keeps no users and rules of its own, and brokers tell it none. Whoever signs as one of its
users may do through it what its own user may at the brokers.
"""

from aerobee.ports.audit import AuditSink
from aerobee.service.access.access_store import seeded
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.accounts import Accounts
from aerobee.service.access.audit import Audit
from aerobee.service.access.config import AccessConfig
from aerobee.service.access.gate import Gate, Realm


def gate_of(access: AccessConfig, audit: AuditSink | None) -> Gate:
    """`audit` takes what the audit trail has; None: there is none."""
    realm = Realm("", Accounts(seeded(AccessTable(), access)))
    trail = None if audit is None else Audit(audit, "proxy", "*")
    return Gate(access, lambda: [realm], audit=trail)
