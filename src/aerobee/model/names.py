"""Names of topics and groups: legal ones, system ones, derived ones.

A name is also a folder of the store, so the rule is strict: only `% - _ |`, digits and ASCII
letters, never `/` or `.`. Agrees with Java's TopicValidator, KeyBuilder and MixAll.

`find_…_fault` returns the fault in words that fit into an answer to a peer, or None; `check_…`
raises the same for a local caller.
"""

import re

from aerobee.errors import Misuse

TOPIC_CHARS_MAX = 127  # one signed byte in a record of version 1
DERIVED_TOPIC_CHARS_MAX = 255  # names of retry and dead-letter topics contain a group's name
GROUP_CHARS_MAX = 120

RETRY_PREFIX = "%RETRY%"
DEAD_LETTER_PREFIX = "%DLQ%"
LIGHT_QUEUE_PREFIX = "%LMQ%"
SYSTEM_TOPIC_PREFIX = "rmq_sys_"
_REVIVE_PREFIX = f"{SYSTEM_TOPIC_PREFIX}REVIVE_LOG_"
SYSTEM_GROUP_PREFIX = "CID_RMQ_SYS_"

AUTO_CREATE_TEMPLATE_TOPIC = "TBW102"
SCHEDULE_TOPIC = "SCHEDULE_TOPIC_XXXX"
TIMER_TOPIC = "rmq_sys_wheel_timer"
TRANSACTION_HALF_TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC"
TRANSACTION_OP_TOPIC = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
TRANSACTION_GIVEN_UP_TOPIC = "TRANS_CHECK_MAX_TIME_TOPIC"
TRACE_TOPIC = "RMQ_SYS_TRACE_TOPIC"
SELF_TEST_TOPIC = "SELF_TEST_TOPIC"
OFFSET_MOVED_TOPIC = "OFFSET_MOVED_EVENT"
BENCHMARK_TOPIC = "BenchmarkTest"
RAFT_TOPIC = "rmq_sys_aerobee_raft"  # Aerobee's: starts of terms, and changes of members
STAGED_TOPIC = "rmq_sys_aerobee_staged"  # Aerobee's: batches that wait to be published
TABLES_TOPIC = "rmq_sys_aerobee_tables"  # Aerobee's: rows of tables, in the log of a Raft group

SYSTEM_TOPICS = frozenset(
    {
        AUTO_CREATE_TEMPLATE_TOPIC,
        SCHEDULE_TOPIC,
        TIMER_TOPIC,
        TRANSACTION_HALF_TOPIC,
        TRANSACTION_OP_TOPIC,
        TRANSACTION_GIVEN_UP_TOPIC,
        TRACE_TOPIC,
        SELF_TEST_TOPIC,
        OFFSET_MOVED_TOPIC,
        BENCHMARK_TOPIC,
        "CHECKPOINT_TOPIC",
        # Created by 5.5.0 at every start, whether it uses RocksDB or not.
        "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC",
        "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC",
    }
)
"""Without those named after a cluster or broker: see `is_system_topic`."""

UNSENDABLE_TOPICS = frozenset(
    {
        SCHEDULE_TOPIC,
        TIMER_TOPIC,
        TRANSACTION_HALF_TOPIC,
        TRANSACTION_OP_TOPIC,
        TRANSACTION_GIVEN_UP_TOPIC,
        SELF_TEST_TOPIC,
        OFFSET_MOVED_TOPIC,
    }
)
"""Without the revive topics of clusters: see `is_broker_written`."""

SYSTEM_GROUPS = frozenset(
    {
        "CLIENT_INNER_PRODUCER",
        "DEFAULT_PRODUCER",
        "DEFAULT_CONSUMER",
        "TOOLS_CONSUMER",
        "SCHEDULE_CONSUMER",
        "FILTERSRV_CONSUMER",
        "__MONITOR_CONSUMER",
        "SELF_TEST_P_GROUP",
        "SELF_TEST_C_GROUP",
        "CID_ONS-HTTP-PROXY",
        "CID_ONSAPI_PERMISSION",
        "CID_ONSAPI_OWNER",
        "CID_ONSAPI_PULL",
        "CID_RMQ_SYS_TRANS",
    }
)

_BAD_CHARACTER = re.compile(r"[^%|a-zA-Z0-9_-]")


def find_topic_fault(name: str) -> str | None:
    """The fault of a topic's name; None if it is legal."""
    return _find_fault(name, "topic", topic_chars_max(name))


def topic_chars_max(name: str) -> int:
    """The length limit of a topic's name: a derived one holds a group's name as well."""
    is_derived = name.startswith((RETRY_PREFIX, DEAD_LETTER_PREFIX))
    return DERIVED_TOPIC_CHARS_MAX if is_derived else TOPIC_CHARS_MAX


def find_group_fault(name: str) -> str | None:
    """The fault of a group's name; None if it is legal."""
    return _find_fault(name, "group", GROUP_CHARS_MAX)


def check_topic(name: str) -> None:
    if not isinstance(name, str):
        raise Misuse(f"a topic's name is text, not {name!r}")
    fault = find_topic_fault(name)
    if fault is not None:
        raise Misuse(fault)


def check_group(name: str) -> None:
    if not isinstance(name, str):
        raise Misuse(f"a group's name is text, not {name!r}")
    fault = find_group_fault(name)
    if fault is not None:
        raise Misuse(fault)


def is_system_topic(name: str, *, cluster: str, broker: str) -> bool:
    """Whether it is a system topic: administrators may neither create nor delete it."""
    return (
        name in SYSTEM_TOPICS
        or name.startswith(SYSTEM_TOPIC_PREFIX)
        or name in (cluster, broker, reply_topic(cluster))
    )


def is_system_group(name: str) -> bool:
    return name in SYSTEM_GROUPS or name.startswith(SYSTEM_GROUP_PREFIX)


def is_retry_topic(name: str) -> bool:
    return name.startswith(RETRY_PREFIX)


def is_dead_letter_topic(name: str) -> bool:
    return name.startswith(DEAD_LETTER_PREFIX)


def retry_topic(group: str) -> str:
    return RETRY_PREFIX + group


def dead_letter_topic(group: str) -> str:
    return DEAD_LETTER_PREFIX + group


def pop_retry_topic(group: str, topic: str) -> str:
    return f"{RETRY_PREFIX}{group}_{topic}"


def reply_topic(cluster: str) -> str:
    return f"{cluster}_REPLY_TOPIC"


def revive_topic(cluster: str) -> str:
    """The topic of checkpoints and acknowledgements of pops."""
    return f"{_REVIVE_PREFIX}{cluster}"


def is_broker_written(topic: str) -> bool:
    """Whether only a broker itself may write to it."""
    return topic in UNSENDABLE_TOPICS or topic == STAGED_TOPIC or topic.startswith(_REVIVE_PREFIX)


def _find_fault(name: str, kind: str, chars_max: int) -> str | None:
    if not name or name.isspace():
        return f"the {kind} name is blank"
    if len(name) > chars_max:
        return f"the {kind} name has {len(name)} characters, at most {chars_max} are allowed"
    bad = _BAD_CHARACTER.search(name)
    if bad is not None:
        return (
            f"the {kind} name {name!r} holds {bad.group()!r}: "
            "only letters, digits, '%', '|', '-' and '_' are allowed"
        )
    return None
