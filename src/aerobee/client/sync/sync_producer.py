"""Receipts and producers for callers without an event loop.

Each line names an asynchronous method; its arguments and result are documented there.
"""

from aerobee.client.api.receipt import Durability, Receipt
from aerobee.client.send.producer import Producer
from aerobee.client.sync.facade import Context, Facade, Fact, act, giving, verb
from aerobee.model.message_queue import MessageQueue


class SyncReceipt(Facade[Receipt]):
    """The receipt of a message."""

    message_id = Fact[Receipt, str](lambda receipt: receipt.message_id)
    offset_id = Fact[Receipt, str](lambda receipt: receipt.offset_id)
    queue = Fact[Receipt, MessageQueue](lambda receipt: receipt.queue)
    offset = Fact[Receipt, int](lambda receipt: receipt.offset)
    durability = Fact[Receipt, Durability](lambda receipt: receipt.durability)
    recall_handle = Fact[Receipt, str](lambda receipt: receipt.recall_handle)
    cancel = verb(Receipt.cancel)

    def __repr__(self) -> str:
        return repr(self._subject)


class SyncProducer(Context[Producer]):
    open = verb(Producer.open)
    close = verb(Producer.close)
    send = giving(Producer.send, SyncReceipt)
    send_nowait = act(Producer.send_nowait)
    drain = verb(Producer.drain)
    pending = Fact[Producer, int](lambda producer: producer.pending)
