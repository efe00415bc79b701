"""What a consumer tells an administrator of itself ⇄ JSON: Java's ConsumerRunningInfo, and the
outcome of one message that was consumed at an administrator's wish.

    {"jstack":"…","mqPopTable":{},"mqTable":{{queue}:{"cachedMsgCount":3,…}},
     "properties":{"PROP_CONSUME_TYPE":"CONSUME_PASSIVELY",…},"statusTable":{"T":{…}},
     "subscriptionSet":[…],"userConsumerInfo":{}}
    {"autoCommit":true,"consumeResult":"CR_SUCCESS","order":false,"remark":"…","spentTimeMills":3}
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aerobee.model.message_queue import MessageQueue
from aerobee.model.subscription import Subscription
from aerobee.protocol.bodies.message_queue import queue_key
from aerobee.protocol.bodies.subscription import subscription_json
from aerobee.protocol.json_text import ObjectKey, Value, write_compact

BYTES_PER_MIB = 1024 * 1024


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


@dataclass(frozen=True, slots=True)
class RunningInfo:
    properties: Mapping[str, str]
    queues: Mapping[MessageQueue, QueueInHand]
    subscriptions: tuple[Subscription, ...]
    stacks: str = ""
    """What its tasks are doing, as text for people."""


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
            "statusTable": _no_statistics(info.subscriptions),
            "subscriptionSet": [subscription_json(one) for one in info.subscriptions],
            "userConsumerInfo": {},
        }
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


def _no_statistics(subscriptions: Iterable[Subscription]) -> dict[str, Value]:
    """Java keeps rates for each topic; whoever reads them here wants them to be there."""
    return {
        one.topic: {
            "consumeFailedMsgs": 0,
            "consumeFailedTPS": 0.0,
            "consumeOKTPS": 0.0,
            "consumeRT": 0.0,
            "pullRT": 0.0,
            "pullTPS": 0.0,
        }
        for one in subscriptions
    }
