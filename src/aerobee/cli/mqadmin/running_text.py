"""The running info of a consumer, as the text that RocketMQ's tool prints and writes to files.

Sections and columns are RocketMQ's; consumers in other languages than Java report less.
"""

from collections.abc import Iterator
from datetime import datetime

from aerobee.cli.mqadmin.java_text import truth
from aerobee.model.message_queue import MessageQueue
from aerobee.protocol.bodies.running_info import BYTES_PER_MIB, QueueInHand, RunningInfo


def running_text(info: RunningInfo) -> str:
    return "".join(f"{line}\n" for line in _lines(info))


def _lines(info: RunningInfo) -> Iterator[str]:
    yield "#Consumer Properties#"
    for name, text in sorted(info.properties.items()):
        yield f"{name:<40}: {text}"
    yield from _heading("#Consumer Subscription#")
    for number, one in enumerate(sorted(info.subscriptions, key=lambda one: one.topic), 1):
        yield (
            f"{number:03d} Topic: {one.topic:<40} ClassFilter: {'false':<8} "
            f"SubExpression: {one.expression}"
        )
    yield from _heading("#Consumer Offset#")
    yield f"{_columns('#Topic', '#Broker Name', '#QID', 64)}  {'#Consumer Offset':<20}"
    for queue, held in sorted(info.queues.items()):
        yield f"{_place(queue, 32)}  {held.commit_offset:<20}"
    yield from _heading("#Consumer MQ Detail#")
    yield f"{_columns('#Topic', '#Broker Name', '#QID', 64)}  {'#ProcessQueueInfo':<20}"
    for queue, held in sorted(info.queues.items()):
        yield f"{_place(queue, 64)}  {_held_text(held):<20}"
    yield from _heading("#Consumer Pop Detail#")
    yield f"{_columns('#Topic', '#Broker Name', '#QID', 32)}  {'#ProcessQueueInfo':<20}"
    yield from _heading("#Consumer RT&TPS#")
    yield (
        f"{'#Topic':<64}  {'#Pull RT':>14} {'#Pull TPS':>14} {'#Consume RT':>14} "
        f"{'#ConsumeOK TPS':>14} {'#ConsumeFailed TPS':>18} {'#ConsumeFailedMsgsInHour':>25}"
    )
    for topic, rates in sorted(info.rates.items()):
        yield (
            f"{topic:<32}  {rates.pull_ms:>14.2f} {rates.pulls_a_second:>14.2f} "
            f"{rates.consume_ms:>14.2f} {rates.consumed_a_second:>14.2f} "
            f"{rates.failed_a_second:>18.2f} {rates.failed:>25}"
        )
    yield from _heading("#User Consume Info#")
    if info.stacks:
        yield from _heading("#Consumer jstack#")
        yield info.stacks.rstrip("\n")


def _heading(text: str) -> tuple[str, str, str]:
    return "", "", text


def _columns(topic: str, broker: str, queue: str, width: int) -> str:
    return f"{topic:<{width}}  {broker:<32}  {queue:<4}"


def _place(queue: MessageQueue, width: int) -> str:
    return _columns(queue.topic, queue.broker_name, str(queue.queue_id), width)


def _held_text(held: QueueInHand) -> str:
    """Format a process queue, without the figures that only Java's consumers have: transactions,
    locks, the time of the last one."""
    pulled = datetime.fromtimestamp(held.pull_wall_ms / 1000)
    return (
        f"ProcessQueueInfo [commitOffset={held.commit_offset}, "
        f"cachedMsgMinOffset={held.min_offset}, cachedMsgMaxOffset={held.max_offset}, "
        f"cachedMsgCount={held.count}, cachedMsgSizeInMiB={held.size // BYTES_PER_MIB}, "
        f"locked={truth(held.is_locked)}, droped={truth(held.is_dropped)}, "
        f"lastPullTimestamp={pulled:%Y%m%d%H%M%S}{held.pull_wall_ms % 1000:03d}]"
    )
