"""RocketMQ for Python people: its wire protocol and its store, byte for byte, in Python.

What applications use:

    aerobee.connect("localhost:9876")   a client, with `async with`: send, consumer, transaction, …
    aerobee.connect_sync(...)           the same verbs, waited for, with `with`
    aerobee.App(...)                    functions that handle messages, run by `aerobee run`
    aerobee.admin(...)                  what tools ask of brokers and name servers
    aerobee.testing.Cluster             a broker in a test, with a clock that the test moves

`help(aerobee.Client)` has the verbs and what they take.

The packages, highest first. Each may import only from those below it; pyproject.toml says the same
to the linter, and a test compares the two.

    cli        the command line: one module per noun, one function per verb
    testing    a cluster for the tests of applications, with a clock that they move
    console    the cluster in a browser: an HTTP API, history of figures, sessions
    app        processes: configuration, start and stop; the only place where real things are built
    pipeline   topics as Spark tables: sources, sinks, capture, jobs
    sim        the core on a pretend world: a clock that tests move, a disk that loses power
    client     what applications import: producers, consumers, administration
    net        sockets ⇄ bytes, and the loop that drives a service
    service    name server and broker: commands in, effects out
    system     the core on the real one: mapped files, disk threads, clocks
    replication  the log on other brokers: what a master sends, what a slave appends and reports
    raft       brokers that agree on one log: elections, what is committed, who belongs to the group
    storage    the store: commit log, consume queues, key index, recovery, retention
    ports      what the core may ask of the world: protocols without code
    protocol   bytes ⇄ frames and headers, bytes ⇄ records; knows no socket and no file
    model      values: messages, queues, flags, properties, ids
    errors     everything that is raised on purpose, by whose fault it is

The walk of one message, from the bytes of a send to the slice that answers a pull:

    1  bytes → frame       protocol/remoting/frame.py
    2  header → draft      protocol/send/send_header.py, protocol/message/message_draft.py
    3  a place in a queue  storage/appender.py
    4  draft → record      storage/commit/commit_log.py, protocol/message/record.py
    5  record → durable    storage/commit/flush.py
    6  record → units      storage/dispatch/dispatcher.py
    7  units               storage/index/consume_queue.py, storage/index/key_index.py
    8  units → slices      storage/read/queue_reader.py

A module with a .pxd of its name beside it is hot: it is compiled when the package is built, and
runs the same, slower, when it is not.

Imports more than 15 modules because it names what applications use, wherever that is.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    __version__: str
    from aerobee.client.admin.admin import Admin as Admin
    from aerobee.client.admin.admin import admin as admin
    from aerobee.client.api.message import Message as Message
    from aerobee.client.api.receipt import BatchReceipt as BatchReceipt
    from aerobee.client.api.receipt import Durability as Durability
    from aerobee.client.api.receipt import Receipt as Receipt
    from aerobee.client.api.received_batch import ReceivedBatch as ReceivedBatch
    from aerobee.client.application.app import App as App
    from aerobee.client.client import Client as Client
    from aerobee.client.client import connect as connect
    from aerobee.client.consumer.consumer import Consumer as Consumer
    from aerobee.client.consumer.reader import Reader as Reader
    from aerobee.client.core.consume.allocation import Averagely as Averagely
    from aerobee.client.core.consume.allocation import AveragelyByCircle as AveragelyByCircle
    from aerobee.client.core.consume.allocation import ByConfiguration as ByConfiguration
    from aerobee.client.core.consume.allocation import ByMachineRoom as ByMachineRoom
    from aerobee.client.core.consume.allocation import ConsistentHash as ConsistentHash
    from aerobee.client.core.consume.allocation import NearbyMachineRoom as NearbyMachineRoom
    from aerobee.client.core.consume.backoff import Backoff as Backoff
    from aerobee.client.core.send.outgoing import Outgoing as Outgoing
    from aerobee.client.send.producer import Producer as Producer
    from aerobee.client.send_modes.spill import Spill as Spill
    from aerobee.client.send_modes.spill import Spilled as Spilled
    from aerobee.client.send_modes.transactions import Transaction as Transaction
    from aerobee.client.sync.sync_client import SyncClient as SyncClient
    from aerobee.client.sync.sync_client import connect_sync as connect_sync
    from aerobee.client.sync.sync_client import sync as sync
    from aerobee.errors import AerobeeError as AerobeeError
    from aerobee.errors import ConnectionLost as ConnectionLost
    from aerobee.errors import Misuse as Misuse
    from aerobee.errors import NoAnswer as NoAnswer
    from aerobee.errors import PartlyDone as PartlyDone
    from aerobee.errors import ProducerFull as ProducerFull
    from aerobee.errors import Refused as Refused
    from aerobee.errors import RequestTimeout as RequestTimeout
    from aerobee.errors import Retriable as Retriable
    from aerobee.errors import SendFailed as SendFailed
    from aerobee.errors import Stored as Stored
    from aerobee.errors import TopicNotFound as TopicNotFound
    from aerobee.errors import Unreachable as Unreachable

# What `import aerobee` offers, by where it is. Imported at its first use: a command line that only
# asks for help need not load an event loop.
_PUBLIC = {
    "App": "aerobee.client.application.app",
    "SyncClient": "aerobee.client.sync.sync_client",
    "connect_sync": "aerobee.client.sync.sync_client",
    "sync": "aerobee.client.sync.sync_client",
    "Admin": "aerobee.client.admin.admin",
    "admin": "aerobee.client.admin.admin",
    "Backoff": "aerobee.client.core.consume.backoff",
    "Client": "aerobee.client.client",
    "Consumer": "aerobee.client.consumer.consumer",
    "Message": "aerobee.client.api.message",
    "Reader": "aerobee.client.consumer.reader",
    "ReceivedBatch": "aerobee.client.api.received_batch",
    "connect": "aerobee.client.client",
    "Outgoing": "aerobee.client.core.send.outgoing",
    "BatchReceipt": "aerobee.client.api.receipt",
    "Producer": "aerobee.client.send.producer",
    "Durability": "aerobee.client.api.receipt",
    "Receipt": "aerobee.client.api.receipt",
    "Spill": "aerobee.client.send_modes.spill",
    "Spilled": "aerobee.client.send_modes.spill",
    "Transaction": "aerobee.client.send_modes.transactions",
    "Averagely": "aerobee.client.core.consume.allocation",
    "AveragelyByCircle": "aerobee.client.core.consume.allocation",
    "ByConfiguration": "aerobee.client.core.consume.allocation",
    "ByMachineRoom": "aerobee.client.core.consume.allocation",
    "ConsistentHash": "aerobee.client.core.consume.allocation",
    "NearbyMachineRoom": "aerobee.client.core.consume.allocation",
    "AerobeeError": "aerobee.errors",
    "ConnectionLost": "aerobee.errors",
    "Misuse": "aerobee.errors",
    "NoAnswer": "aerobee.errors",
    "PartlyDone": "aerobee.errors",
    "ProducerFull": "aerobee.errors",
    "Refused": "aerobee.errors",
    "RequestTimeout": "aerobee.errors",
    "Retriable": "aerobee.errors",
    "SendFailed": "aerobee.errors",
    "Stored": "aerobee.errors",
    "TopicNotFound": "aerobee.errors",
    "Unreachable": "aerobee.errors",
}

if not TYPE_CHECKING:  # a type checker is to see a name that is not there

    def __getattr__(name):
        if name == "__version__":
            from importlib.metadata import version

            return version(__name__)
        place = _PUBLIC.get(name)
        if place is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        import importlib

        return getattr(importlib.import_module(place), name)


def __dir__() -> list[str]:
    return sorted((*globals(), *_PUBLIC))
