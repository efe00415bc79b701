"""CHANGE_BROKER_ROLE: makes a slave a master, and a master a slave, by a person's decision.

    promote   refused while the slave follows its master, or has heard of records that it does not
              have: a second master, or a loss. `force` overrides both.
    demote    the broker looks for its master, compares the logs, and cuts what the master has not

The answer says what the broker has; then it is built anew in its role (`Rebuild`). The process
saves the role, so that the next start has it, too.
"""

from collections.abc import Callable
from typing import TypeAlias

from aerobee.model.broker_role import MASTER_ID, BrokerRole, RoleChange
from aerobee.model.replica_status import FOLLOWING, ReplicaStatus, SlaveStatus
from aerobee.ports.clock import Now
from aerobee.ports.service import Effects, Rebuild
from aerobee.protocol.headers.replication import ChangedRoleHeader, ChangeRoleHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.replication.promotion import Promotion
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.tables import Tables
from aerobee.service.request import Answer, Request
from aerobee.storage.store import Store

StatusAt: TypeAlias = Callable[[Now], ReplicaStatus]


def role_rows(
    status: StatusAt,
    known_term: Callable[[], int],
    tables: Tables,
    store: Store,
    hold_copies: Callable[[bool], None],
    outbox: Effects,
) -> list[Row]:
    """The row of a broker with these tables and this store; see `Promotion`."""
    promotion = Promotion(tables.topics, tables.groups, store, hold_copies)
    return RoleHandlers(status, known_term, promotion, outbox).rows()


class RoleHandlers:
    def __init__(
        self,
        status: StatusAt,
        known_term: Callable[[], int],
        promotion: Promotion,
        outbox: Effects,
    ) -> None:
        """`known_term`: the newest term of a master that was heard of."""
        self._status = status
        self._known_term = known_term
        self._promotion = promotion
        self._outbox = outbox

    def rows(self) -> list[Row]:
        code = RequestCode.CHANGE_BROKER_ROLE
        return [row(code, ChangeRoleHeader, self._change, Lane.ADMIN)]

    def _change(self, request: Request, header: ChangeRoleHeader) -> Answer | None:
        role = next((one for one in BrokerRole if one.value == header.role), None)
        status = self._status(request.now)
        fault = _misfit(role, header) or (
            "" if header.force or role is None else _reason_against(role, status)
        )
        if fault or role is None:
            return Answer(ResponseCode.INVALID_PARAMETER, fault)
        answer = Answer(fields=write_header(ChangedRoleHeader(role.value, status.end_offset)))
        change = RoleChange(role, header.broker_id, header.master_ha_address or "")
        wish = Rebuild(f"its role is {role.value} from now on", role=change)

        def prepared(error: BaseException | None) -> None:
            if error is not None:
                request.answer_when_saved(error)
                return
            request.answer(answer)
            self._outbox.append(wish)

        if role.is_master and isinstance(status, SlaveStatus):
            known = max(self._known_term(), header.above_term)
            self._promotion.prepare(request.now, prepared, known + 1)
        else:
            prepared(None)
        return None


def _misfit(role: BrokerRole | None, header: ChangeRoleHeader) -> str:
    """Why the request cannot be meant; empty: it can."""
    if role is None:
        known = ", ".join(one.value for one in BrokerRole)
        return f"there is no role {header.role[:40]!r}: it is one of {known}"
    if role.is_master and header.broker_id != MASTER_ID:
        return f"a master has the broker id 0, not {header.broker_id}"
    if not role.is_master and header.broker_id <= MASTER_ID:
        return f"a slave has a broker id above 0, not {header.broker_id}"
    return ""


def _reason_against(role: BrokerRole, status: ReplicaStatus) -> str:
    """Why this change should not be made now; empty: nothing is against it."""
    if not role.is_master or not isinstance(status, SlaveStatus):
        return ""
    if status.state == FOLLOWING:
        return (
            f"its master at {status.master} still sends its log: two masters of one name would "
            "diverge. Stop the master or make it a slave first, or force it"
        )
    if status.lag_bytes > 0:
        return (
            f"it has heard of {status.lag_bytes} bytes of its master's log that it does not have: "
            "they would be lost. Promote a slave that has them, bring the master back, or force it"
        )
    return ""
