"""Clients that speak gRPC, RocketMQ's own of the 5.x line, and what is tried with each.

No pair is part of every run: `make test-interop` tries them all.
"""

import itertools
from collections.abc import Mapping

from tests.interop.features.catalogue import Catalogue

CLIENTS: Mapping[str, str] = {
    "java-grpc": "Java (`rocketmq-client-java` 5.2.0)",
    "go-grpc": "Go (`rocketmq-clients/golang/v5` v5.1.4)",
    "node-grpc": "Node (`rocketmq-client-nodejs` 1.0.8)",
    "rust-grpc": "Rust (`rocketmq` 5.0.0)",
    "python-grpc": "Python (`rocketmq-python-client` 5.1.2)",
}

_FEATURES: Mapping[str, str] = {
    "grpc-send": "synchronous send: body, tag, keys and properties",
    "grpc-async": "asynchronous send",
    "grpc-fifo-send": "FIFO send: a message group keeps to one queue, in order",
    "grpc-delay": "delivery time: never delivered early",
    "grpc-recall": "recall of a message that is not due yet",
    "grpc-transaction": "transaction: commit and rollback",
    "grpc-check-back": "transaction check by the broker",
    "grpc-check-back-restart": "transaction check after the broker was killed",
    "grpc-wrong-type": "a message of another type than its topic's is refused",
    "grpc-too-large": "a message that is too large is refused, the next one is stored",
    "grpc-simple": "simple consumer: acknowledged once, else delivered again",
    "grpc-postpone": "simple consumer: change of the invisible duration",
    "grpc-tags": "tag filter",
    "grpc-sql": "SQL92 filter",
    "grpc-push": "push consumer",
    "grpc-push-retry": "push consumer: a failed message is delivered again",
    "grpc-push-fifo": "push consumer, FIFO: message groups in order",
    "grpc-dead-letter": "retries, then the dead-letter queue",
    "grpc-fifo-dead-letter": "retries, then the dead-letter queue, FIFO",
    "grpc-renewal": "push consumer: a message is renewed while it is handled",
    "grpc-crash": "messages of a killed consumer go to another",
    "grpc-broker-restart": "client continues after the broker was killed",
    "grpc-mixed": "one group with a remoting POP consumer",
}

_NO_CALL = "the client library has no call for it"
_PUSH = (
    "grpc-push",
    "grpc-push-retry",
    "grpc-push-fifo",
    "grpc-dead-letter",
    "grpc-fifo-dead-letter",
    "grpc-renewal",
)
_NOT_OFFERED: Mapping[tuple[str, str], str] = {
    **dict.fromkeys(
        (("rust-grpc", feature) for feature in _PUSH), "the client has a simple consumer only"
    ),
    ("rust-grpc", "grpc-recall"): _NO_CALL,
    ("rust-grpc", "grpc-postpone"): _NO_CALL,
}

GRPC = Catalogue(
    "gRPC", CLIENTS, _FEATURES, _NOT_OFFERED, {}, frozenset(itertools.product(CLIENTS, _FEATURES))
)
