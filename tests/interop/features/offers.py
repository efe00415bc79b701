"""Clients that speak RocketMQ's remoting protocol, and what is tried with each."""

import itertools
from collections.abc import Mapping

from tests.interop.features.catalogue import Catalogue

CLIENTS: Mapping[str, str] = {
    "java-5.5.0": "Java 5.5.0",
    "java-4.9.8": "Java 4.9.8",
    "cpp": "C++ (`rocketmq` 0.4.4)",
    "go": "Go v2.1.2",
    "node": "Node (`ali-ons` 3.12.0)",
}

_FEATURES: Mapping[str, str] = {
    "sync": "synchronous send",
    "async": "asynchronous send",
    "oneway": "one-way send",
    "batch": "batch send",
    "ordered": "send to the queue selected by a key",
    "delayed": "delay levels: never delivered early",
    "timer": "exact delivery time: never delivered early",
    "recall": "recall of a message that is not due yet",
    "transaction": "transaction: commit and rollback",
    "check-back": "transaction check by the broker",
    "check-back-restart": "transaction check after the broker was killed",
    "first-send": "topic creation by the first send",
    "too-large": "a message that is too large is refused, the next one is stored",
    "concurrent": "push consumer, concurrent",
    "orderly": "push consumer, ordered by queue",
    "tags": "tag filter",
    "sql": "SQL92 filter",
    "pull": "pull from assigned queues",
    "poll": "poll as a member of a group",
    "broadcast": "broadcasting consumer",
    "dead-letter": "retries, then the dead-letter queue",
    "orderly-dead-letter": "retries, then the dead-letter queue, ordered",
    "pop": "POP consumer",
    "pop-retry": "POP: a refused message is delivered again later",
    "pop-crash": "POP: messages of a killed consumer go to another",
    "priority": "priority: its queue, and POP hands out high ones first",
    "request-reply": "request and reply",
    "trace": "message trace",
    "query-key": "query messages by key",
    "query-id": "query a message by id",
    "rebalance": "rebalance when members join and leave",
    "broker-restart": "client continues after the broker was killed",
    "consumer-restart": "consumer continues at the offset of a killed one",
    "access": "users: only right credentials and rights let a client in",
    "tls": "TLS: only a client that trusts the server's authority gets in",
}

# From the packages themselves: what their public interface has no call for.
_NO_CALL = "the client library has no call for it"
_IN_JAVA_5 = ("timer", "recall", "pop", "pop-retry", "pop-crash", "priority")
_IN_JAVA_AND_GO = ("transaction", "check-back", "check-back-restart", "request-reply", "trace")
_NOT_OFFERED: Mapping[tuple[str, str], str] = {
    (
        "cpp",
        "batch",
    ): "the client sends the batch flag `1` instead of `true`: RocketMQ stores one message",
    ("cpp", "too-large"): "the client reports every refusal as `No route info of this topic`",
    ("cpp", "poll"): "the pull consumer requires an assigned queue",
    ("cpp", "query-key"): _NO_CALL,
    ("cpp", "query-id"): _NO_CALL,
    ("cpp", "orderly-dead-letter"): "ordered consumption retries in place without a limit",
    ("go", "query-key"): _NO_CALL,
    ("go", "query-id"): _NO_CALL,
    ("node", "first-send"): "the client treats an unknown topic as an error",
    ("node", "oneway"): "every send waits for its response",
    ("node", "batch"): "a send takes one message",
    ("node", "orderly"): "the client never locks a queue",
    ("node", "orderly-dead-letter"): "the client never locks a queue",
    ("node", "pull"): "the client has a push consumer only",
    ("node", "poll"): "the client has a push consumer only",
    ("node", "query-key"): _NO_CALL,
    ("node", "query-id"): _NO_CALL,
    **dict.fromkeys(itertools.product(("java-4.9.8", "cpp", "go", "node"), _IN_JAVA_5), _NO_CALL),
    **dict.fromkeys(itertools.product(("cpp", "node"), _IN_JAVA_AND_GO), _NO_CALL),
    ("cpp", "sql"): _NO_CALL,
    **dict.fromkeys(itertools.product(("cpp", "go", "node"), ("tls",)), "the client has no TLS"),
    ("node", "timer"): "`setStartDeliverTime` is for other servers: RocketMQ does not support it",
}

# What Apache's own server gets wrong with a client, and ours does not.
_APACHE_FAILS: Mapping[tuple[str, str], str] = {
    (
        "cpp",
        "dead-letter",
    ): "Apache's broker throws a NullPointerException for a send-back without originTopic",
}

# What a client takes its time for, 20 s or more, whoever the server is: it polls, or waits for a
# timeout.
_SLOW = {
    ("cpp", "broker-restart"),
    ("go", "broker-restart"),
    ("go", "check-back-restart"),
    ("go", "consumer-restart"),
    ("go", "rebalance"),
    ("node", "rebalance"),
}

REMOTING = Catalogue("remoting", CLIENTS, _FEATURES, _NOT_OFFERED, _APACHE_FAILS, _SLOW)
