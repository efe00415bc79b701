"""Transactions and spills for callers without an event loop: the same methods, which wait.

Each line names an asynchronous method; its arguments and result are documented there.
"""

from aerobee.client.api.receipt import Receipt
from aerobee.client.connection.loop_portal import Portal
from aerobee.client.send_modes.spill import Spill, Spilled
from aerobee.client.send_modes.transactions import Transaction
from aerobee.client.sync.facade import Context, Facade, Fact, act, giving, verb
from aerobee.client.sync.sync_producer import SyncReceipt


class SyncTransaction(Context[Transaction]):
    """The context manager of `client.transaction(...)`."""

    message_id = Fact[Transaction, str](lambda transaction: transaction.message_id)
    commit = verb(Transaction.commit)
    roll_back = verb(Transaction.roll_back)
    leave_open = act(Transaction.leave_open)


class SyncSpilled(Facade[Spilled]):
    """The receipt of a message that waits in the file."""

    message_id = Fact[Spilled, str](lambda spilled: spilled.message_id)
    delivered = giving(Spilled.delivered, SyncReceipt)


def _kept(outcome: Receipt | Spilled, portal: Portal) -> SyncReceipt | SyncSpilled:
    if isinstance(outcome, Receipt):
        return SyncReceipt(outcome, portal)
    return SyncSpilled(outcome, portal)


class SyncSpill(Context[Spill]):
    """The context manager of `client.spill(...)`. It returns `SyncSpilled` for messages that it
    keeps.
    """

    waiting = Fact[Spill, int](lambda spill: spill.waiting)
    waiting_bytes = Fact[Spill, int](lambda spill: spill.waiting_bytes)
    expired = Fact[Spill, int](lambda spill: spill.expired)
    refused = Fact[Spill, int](lambda spill: spill.refused)
    send = giving(Spill.send, _kept)
    drained = verb(Spill.drained)
