"""ToldAccess: the users and rules that brokers told a name server, one table for each broker name,
and the gate that goes by them.

A name server keeps none of its own but those that its settings name. A broker asks every few
seconds whether its table is known here, by its digest, and sends it if it is not: so a change is
known soon, and a name server that was restarted soon knows all.
"""

from aerobee.errors import AerobeeError
from aerobee.ports.audit import AuditSink
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.access.access_store import seeded
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.accounts import Accounts
from aerobee.service.access.audit import Audit
from aerobee.service.access.config import AccessConfig
from aerobee.service.access.gate import Gate, Realm
from aerobee.service.access.table_text import decode_table, transfer_key
from aerobee.service.request import OK, Answer, Request

BROKERS_MAX = 1_000


class ToldAccess:
    def __init__(self, config: AccessConfig, audit: AuditSink | None = None) -> None:
        """`audit` takes what the audit trail has; None: there is none."""
        self.audit = None if audit is None else Audit(audit, "nameserver", "*")
        self.gate = Gate(config, self.realms, audit=self.audit)
        self._inner = config.inner
        self._needs_none = not config.authenticates
        self._own = Realm("", Accounts(seeded(AccessTable(), config)))
        self._told: dict[str, Realm] = {}
        self._digests: dict[str, str] = {}

    def realms(self) -> list[Realm]:
        return [self._own, *self._told.values()]

    def tell(self, request: Request) -> Answer:
        """TELL_ACCESS: without a body, whether the table of this digest is known, or none is
        needed."""
        name, digest = request.fields.text("brokerName"), request.fields.text("digest")
        if not request.body:
            is_known = self._needs_none or self._digests.get(name) == digest
            return Answer(fields={"known": "true" if is_known else "false"})
        if self._inner is None or (name not in self._told and len(self._told) >= BROKERS_MAX):
            return Answer(
                ResponseCode.SYSTEM_ERROR,
                "this name server takes no users: innerClientAuthenticationCredentials is not set, "
                f"or {BROKERS_MAX} brokers told it theirs",
            )
        try:
            table = decode_table(request.body, transfer_key(self._inner))
        except AerobeeError as error:
            return Answer(ResponseCode.INVALID_PARAMETER, error.message)
        realm = self._told.get(name)
        cluster = request.fields.text("clusterName")
        if realm is None or realm.cluster != cluster:
            realm = self._told[name] = Realm(cluster, Accounts())
        realm.accounts.replace(table)
        self._digests[name] = digest
        return OK
