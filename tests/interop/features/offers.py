"""Which clients there are, what is tried with each, and what a client does not offer at all."""

import itertools
from collections.abc import Mapping

CLIENTS: Mapping[str, str] = {
    "java-5.5.0": "Java 5.5.0",
    "java-4.9.8": "Java 4.9.8",
    "cpp": "C++ (`rocketmq` 0.4.4)",
    "go": "Go v2.1.2",
    "node": "Node (`ali-ons` 3.12.0)",
}
SERVERS = ("apache", "aerobee")

FEATURES: Mapping[str, str] = {
    "sync": "send and wait for the answer",
    "async": "send many at once, answers come later",
    "oneway": "send without an answer",
    "batch": "send several in one request",
    "ordered": "send to the queue that a key chooses",
    "delayed": "send for later, by level; never early",
    "timer": "send for an exact time; never early",
    "recall": "take back what is not due yet",
    "transaction": "send in a transaction: committed or rolled back",
    "check-back": "the broker asks what became of a transaction",
    "check-back-restart": "the same, after the broker was killed",
    "first-send": "the first send makes the topic",
    "concurrent": "consume, pushed",
    "orderly": "consume each queue in order",
    "tags": "consume some tags only",
    "sql": "consume what an SQL92 expression chooses",
    "pull": "pull from chosen queues",
    "poll": "poll as a member of a group",
    "broadcast": "every member gets everything",
    "dead-letter": "retries, then the dead-letter topic",
    "orderly-dead-letter": "the same, in order",
    "pop": "consume by acknowledgement (POP)",
    "pop-retry": "the same: what is refused comes back later",
    "pop-crash": "the same: what a killed consumer had comes to another",
    "request-reply": "send a request, get the reply",
    "trace": "a message's way is recorded in the trace topic",
    "query-key": "find messages by key",
    "query-id": "find a message by its id",
    "rebalance": "queues move as members come and go",
    "broker-restart": "go on after the broker was killed",
    "consumer-restart": "go on where a killed consumer was",
}

# From the packages themselves: what their public interface has no call for.
_NO_CALL = "the package has no call for it"
_IN_JAVA_5 = ("timer", "recall", "pop", "pop-retry", "pop-crash")
_IN_JAVA_AND_GO = ("transaction", "check-back", "check-back-restart", "request-reply", "trace")
NOT_OFFERED: Mapping[tuple[str, str], str] = {
    (
        "cpp",
        "batch",
    ): "its batch flag is `1`, not `true`: RocketMQ stores one message",
    ("cpp", "poll"): "its pull consumer is told the queue, always",
    ("cpp", "query-key"): _NO_CALL,
    ("cpp", "query-id"): _NO_CALL,
    ("cpp", "orderly-dead-letter"): "it retries in place for ever",
    ("go", "query-key"): _NO_CALL,
    ("go", "query-id"): _NO_CALL,
    ("node", "first-send"): "an unknown topic is an error to it",
    ("node", "oneway"): "every send waits for its answer",
    ("node", "batch"): "a send takes one message",
    ("node", "orderly"): "it never locks a queue",
    ("node", "orderly-dead-letter"): "it never locks a queue",
    ("node", "pull"): "there is a push consumer only",
    ("node", "poll"): "there is a push consumer only",
    ("node", "query-key"): _NO_CALL,
    ("node", "query-id"): _NO_CALL,
    **dict.fromkeys(itertools.product(("java-4.9.8", "cpp", "go", "node"), _IN_JAVA_5), _NO_CALL),
    **dict.fromkeys(itertools.product(("cpp", "node"), _IN_JAVA_AND_GO), _NO_CALL),
    ("cpp", "sql"): _NO_CALL,
    ("node", "timer"): "its `setStartDeliverTime` is for other servers: RocketMQ does not know it",
}

# What Apache's own server gets wrong with a client, and ours does not.
APACHE_FAILS: Mapping[tuple[str, str], str] = {
    ("cpp", "dead-letter"): "a send-back without originTopic is a NullPointerException at Apache",
}

# What a client takes its time for, 20 s or more, whoever the server is: it polls, or waits for a
# timeout.
SLOW = {
    ("cpp", "broker-restart"),
    ("go", "broker-restart"),
    ("go", "check-back-restart"),
    ("node", "rebalance"),
}


def is_offered(client: str, feature: str) -> bool:
    return (client, feature) not in NOT_OFFERED
