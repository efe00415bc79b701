"""Puts the transaction room together: ledger, check-back, fast path and handlers.

Imports more than 15 modules because it puts the others together.
"""

from aerobee.model.message import unpack_host
from aerobee.ports.clock import Now
from aerobee.ports.service import Effects
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.state.tables import Tables
from aerobee.service.broker.transaction.askable_producers import AskableProducers
from aerobee.service.broker.transaction.check_back import CheckBack
from aerobee.service.broker.transaction.end_transaction_handlers import EndTransactionHandlers
from aerobee.service.broker.transaction.fast_end_transaction import FastEndTransaction
from aerobee.service.broker.transaction.given_up_topic import GivenUpTopic
from aerobee.service.broker.transaction.half_escape import HalfEscape
from aerobee.service.broker.transaction.half_timing import HalfTerms, HalfTiming
from aerobee.service.broker.transaction.ledger import Ledger
from aerobee.service.broker.transaction.transaction_status_handlers import TransactionStatusHandlers
from aerobee.service.live_config import LiveConfig
from aerobee.storage.store import Store

CHECKS_A_SECOND = 200
"""Limit per connection: Java's client queues 2,000 and answers them one by one."""


class TransactionAssembly:
    def __init__(
        self,
        identity: BrokerIdentity,
        config: LiveConfig[BrokerConfig],
        tables: Tables,
        store: Store,
        writer: MessageWriter,
        outbox: Effects,
        now: Now,
    ) -> None:
        self._config = config
        self._tables = tables
        self._store = store
        self._timing = timing = HalfTiming(lambda: config.current, store.config.retention_ms)
        self.ledger = Ledger(
            store, writer, tables.offsets, timing, unpack_host(store.config.store_host), now
        )
        self._checks: CheckBack | HalfEscape
        if identity.is_acting:
            self._checks = HalfEscape(self.ledger)
        else:
            self._checks = CheckBack(
                self.ledger,
                timing,
                writer,
                AskableProducers(tables.producers, CHECKS_A_SECOND),
                GivenUpTopic(tables.topics),
                identity.name,
                outbox,
            )
        self.ends: FastEndTransaction | None = None
        """The fast path of END_TRANSACTION; only a master has one."""
        self._serves_ends = identity.takes_messages or not writer.place.is_own
        if identity.takes_messages:
            self.ends = FastEndTransaction(
                store.appender, store.hot_records, tables.topics.entries, self.ledger.halves
            )
        self._is_stopped = False

    def rows(self) -> list[Row]:
        ends = EndTransactionHandlers(self.ledger, self._tables.topics, is_served=self._serves_ends)
        status = TransactionStatusHandlers(self.ledger, self._tables.producers)
        return [*ends.rows(), *status.rows()]

    def terms(self, now: Now) -> HalfTerms:
        """The conditions for half messages on the fast path."""
        room = 0 if self._config.current.rejects_transactions else self.ledger.open_max
        timing = self._timing
        return room, timing.first_check_ms(None, now), timing.expiry_ms(now)

    def committed(self) -> int:
        """The number of messages that the fast path of END_TRANSACTION stored."""
        return self.ends.stored if self.ends is not None else 0

    def outcomes(self) -> tuple[int, int]:
        """(commits, rollbacks) since the start, on both paths."""
        committed, ended = (0, 0) if self.ends is None else (self.ends.stored, self.ends.ended)
        ledger = self.ledger
        return ledger.committed + committed, ledger.rolled_back + ended - committed

    def on_round(self, now: Now) -> None:
        """The reads of this turn are over: end the halves of the fast path."""
        if self.ends is not None and self.ends.over:
            self.ledger.end(self.ends.take_over())

    def on_tick(self, now: Now) -> None:
        self.on_round(now)
        if not self._is_stopped and self._store.failure is None:
            self._checks.on_tick(now)
        self.ledger.on_tick(now)

    def rest_ms(self, now: Now) -> int:
        """The time for which no tick is needed."""
        return 0 if self.ledger.is_busy else self._checks.rest_ms(now)

    def stop(self, now: Now) -> None:
        """Send no more checks, and save the offsets. Blocks on the disk."""
        self._is_stopped = True
        self.on_round(now)
        self.ledger.stop(now)
