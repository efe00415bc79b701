"""Running info of a consumer ⇄ JSON: Java's ConsumerRunningInfo, and the result of a direct
consumption.

    {"jstack":"…","mqPopTable":{},"mqTable":{{queue}:{"cachedMsgCount":3,…}},
     "properties":{"PROP_CONSUME_TYPE":"CONSUME_PASSIVELY",…},"statusTable":{"T":{…}},
     "subscriptionSet":[…],"userConsumerInfo":{}}
    {"autoCommit":true,"consumeResult":"CR_SUCCESS","order":false,"remark":"…","spentTimeMills":3}
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from aerobee.model.message_queue import MessageQueue
from aerobee.model.subscription import Subscription
from aerobee.protocol.bodies.message_queue import by_queue, queue_key
from aerobee.protocol.bodies.subscription import subscription_from, subscription_json
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import ObjectKey, Value, parse, write_compact

BYTES_PER_MIB = 1024 * 1024
PAUSED_QUEUES = "PROP_PAUSED_QUEUES"
"""A property of ours: queues that nothing is handed out of, with commas in between."""
CONSUME_MODE = "PROP_CONSUME_MODE"
"""A property of ours: `pull` or `pop`."""


@dataclass(frozen=True, slots=True)
class QueueInHand:
    """One queue of a consumer, as it is at this moment."""

    commit_offset: int
    min_offset: int
    max_offset: int
    count: int
    size: int
    is_locked: bool
    pull_wall_ms: int
    is_dropped: bool = False


class TopicRates(NamedTuple):
    """Rates of a consumer in one topic, by Java's names."""

    pull_ms: float = 0.0
    pulls_a_second: float = 0.0
    consume_ms: float = 0.0
    consumed_a_second: float = 0.0
    failed_a_second: float = 0.0
    failed: int = 0


class ConsumeResult(NamedTuple):
    """Result of a message that a client consumed for CONSUME_MESSAGE_DIRECTLY."""

    result: str
    """CR_SUCCESS, CR_LATER, CR_THROW_EXCEPTION and others of Java's."""
    spent_ms: int = 0
    remark: str = ""
    is_ordered: bool = False


@dataclass(frozen=True, slots=True)
class RunningInfo:
    properties: Mapping[str, str]
    queues: Mapping[MessageQueue, QueueInHand]
    subscriptions: tuple[Subscription, ...]
    stacks: str = ""
    """What its tasks are doing, as text for people."""
    rates: Mapping[str, TopicRates] = field(default_factory=dict)
    """By topic; nothing: nobody counts."""


def encode_running_info(info: RunningInfo) -> bytes:
    queues: dict[ObjectKey, Value] = {
        queue_key(queue): _queue_json(held) for queue, held in info.queues.items()
    }
    body: dict[str, Value] = {"jstack": info.stacks} if info.stacks else {}
    return write_compact(
        {
            **body,
            "mqPopTable": {},
            "mqTable": queues,
            "properties": dict(info.properties),
            "statusTable": {
                topic: _rates_json(rates)
                # Whoever reads them wants them to be there.
                for topic, rates in {
                    **{one.topic: TopicRates() for one in info.subscriptions},
                    **info.rates,
                }.items()
            },
            "subscriptionSet": [subscription_json(one) for one in info.subscriptions],
            "userConsumerInfo": {},
        }
    )


def decode_running_info(body: bytes) -> RunningInfo:
    members = Members(parse(body), "the consumer's state")
    return RunningInfo(
        members.object("properties").texts(),
        {
            queue: _queue_from(Members(value, f"the state of {queue}"))
            for queue, value in by_queue(members.object("mqTable")).items()
        },
        tuple(
            subscription_from(Members(one, "a subscription"))
            for one in members.array("subscriptionSet")
        ),
        members.text("jstack", ""),
        {topic: _rates_from(one) for topic, one in members.object("statusTable").objects()},
    )


def decode_consume_result(body: bytes) -> ConsumeResult:
    members = Members(parse(body), "the result")
    return ConsumeResult(
        members.text("consumeResult", ""),
        members.int64("spentTimeMills", 0),
        members.text("remark", ""),
        members.is_true("order"),
    )


def encode_consume_result(
    result: str, *, spent_ms: int, is_ordered: bool = False, remark: str = ""
) -> bytes:
    body: dict[str, Value] = {
        "autoCommit": True,
        "consumeResult": result,
        "order": is_ordered,
        "spentTimeMills": spent_ms,
    }
    return write_compact({**body, "remark": remark} if remark else body)


def _queue_json(held: QueueInHand) -> dict[str, Value]:
    return {
        "cachedMsgCount": held.count,
        "cachedMsgMaxOffset": held.max_offset,
        "cachedMsgMinOffset": held.min_offset,
        "cachedMsgSizeInMiB": held.size // BYTES_PER_MIB,
        "commitOffset": held.commit_offset,
        "droped": held.is_dropped,
        "lastConsumeTimestamp": held.pull_wall_ms,
        "lastLockTimestamp": held.pull_wall_ms if held.is_locked else 0,
        "lastPullTimestamp": held.pull_wall_ms,
        "locked": held.is_locked,
        "transactionMsgCount": 0,
        "transactionMsgMaxOffset": 0,
        "transactionMsgMinOffset": 0,
        "tryUnlockTimes": 0,
    }


def _queue_from(one: Members) -> QueueInHand:
    return QueueInHand(
        one.int64("commitOffset", 0),
        one.int64("cachedMsgMinOffset", 0),
        one.int64("cachedMsgMaxOffset", 0),
        one.int64("cachedMsgCount", 0),
        one.int64("cachedMsgSizeInMiB", 0) * BYTES_PER_MIB,
        one.is_true("locked"),
        one.int64("lastPullTimestamp", 0),
        one.is_true("droped"),
    )


def _rates_json(rates: TopicRates) -> dict[str, Value]:
    return {
        "consumeFailedMsgs": rates.failed,
        "consumeFailedTPS": rates.failed_a_second,
        "consumeOKTPS": rates.consumed_a_second,
        "consumeRT": rates.consume_ms,
        "pullRT": rates.pull_ms,
        "pullTPS": rates.pulls_a_second,
    }


def _rates_from(one: Members) -> TopicRates:
    return TopicRates(
        one.real("pullRT", 0.0),
        one.real("pullTPS", 0.0),
        one.real("consumeRT", 0.0),
        one.real("consumeOKTPS", 0.0),
        one.real("consumeFailedTPS", 0.0),
        one.int64("consumeFailedMsgs", 0),
    )
