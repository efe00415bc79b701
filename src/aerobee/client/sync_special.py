"""Transactions and spills for callers without an event loop: the same verbs, waited for.

Each line names an asynchronous verb; what it takes and gives is said there.
"""

from types import TracebackType
from typing import Self

from aerobee.client.blocking import Facade, Fact, act, verb
from aerobee.client.spill import Spill
from aerobee.client.transactions import Transaction


class SyncTransaction(Facade[Transaction]):
    """`with client.transaction(...)`."""

    message_id = Fact[Transaction, str](lambda transaction: transaction.message_id)
    commit = verb(Transaction.commit)
    roll_back = verb(Transaction.roll_back)
    leave_open = act(Transaction.leave_open)

    def __enter__(self) -> Self:
        self._portal.call(self._subject.__aenter__())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._portal.call(self._subject.__aexit__(kind, error, trace))


class SyncSpill(Facade[Spill]):
    """`with client.spill(...)`. What it keeps says so: `Spilled`."""

    waiting = Fact[Spill, int](lambda spill: spill.waiting)
    waiting_bytes = Fact[Spill, int](lambda spill: spill.waiting_bytes)
    expired = Fact[Spill, int](lambda spill: spill.expired)
    refused = Fact[Spill, int](lambda spill: spill.refused)
    send = verb(Spill.send)
    drained = verb(Spill.drained)

    def __enter__(self) -> Self:
        self._portal.call(self._subject.__aenter__())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._portal.call(self._subject.__aexit__(kind, error, trace))
