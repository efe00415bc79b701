"""Puts the replication room together: the side that this broker is on, the answers that wait for
slaves, and the requests that a slave refuses.
"""

from collections.abc import Callable, Sequence

from aerobee.model.group import GroupConfig
from aerobee.ports.service import Effects
from aerobee.service.broker.cluster.registration import Registration
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.fast_path import FastPath, NoFastPath
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.replication.broker_suggestion import BrokerSuggestion
from aerobee.service.broker.replication.log_reading_handlers import LogReadingHandlers
from aerobee.service.broker.replication.master_side import MasterSide
from aerobee.service.broker.replication.slave_requests import slave_rows
from aerobee.service.broker.replication.slave_side import SlaveSide
from aerobee.service.broker.request_table import Row
from aerobee.storage.store import Store


class ReplicationAssembly:
    """Built before the send room: whether answers wait for slaves decides how that is built."""

    def __init__(
        self,
        identity: BrokerIdentity,
        store: Store,
        registration: Registration,
        outbox: Effects,
        sync_timeout_ms: Callable[[], int],
        find_group: Callable[[str], GroupConfig | None],
    ) -> None:
        self._is_master = identity.is_master
        self._store = store
        self.side = _side(identity, store, registration, outbox)
        copies = self.side if isinstance(self.side, MasterSide) and self.side.waits else None
        self.answers = SafeAnswers(store, sync_timeout_ms, copies)
        self.suggestion = BrokerSuggestion(identity, store, find_group, self.side.has_slave)

    def rows(self, rows: Sequence[Row]) -> list[Row]:
        """The rows of the other rooms and of this one; those that a slave refuses are replaced."""
        found = [*rows, *LogReadingHandlers(self._store).rows()]
        return found if self._is_master else slave_rows(found, self.side.master)

    def only_on_master(self, fast_path: FastPath) -> FastPath:
        """A fast path that a slave does not have."""
        return fast_path if self._is_master else NoFastPath()


def _side(
    identity: BrokerIdentity, store: Store, registration: Registration, outbox: Effects
) -> MasterSide | SlaveSide:
    if identity.is_master:
        return MasterSide(store, identity.replication, outbox)
    side = SlaveSide(store, identity.replication, outbox, registration.look_for_master)
    registration.tell_of_master(side.hear_of_master)
    return side
