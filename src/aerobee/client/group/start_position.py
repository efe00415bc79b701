"""`first_offset` and `find_offset` turn "earliest", "latest" or a moment into an offset of a queue.

For a new group (`first_offset`) the beginning is 0, whatever the queue still has, as in Java: the
first pull corrects it. For a seek (`find_offset`) the first offset is asked for.
"""

from aerobee.client.api.consumer_options import StartAt, start_rule
from aerobee.client.core.consume.start_rule import Ask, Start, StartRule, question
from aerobee.client.group.group_requests import GroupRequests
from aerobee.model.message_queue import MessageQueue


async def first_offset(calls: GroupRequests, queue: MessageQueue, rule: StartRule) -> int:
    """The first offset of a group that has none in a queue."""
    asked = question(rule, queue.topic)
    if asked is Ask.END:
        return await calls.end_of(queue)
    if asked is Ask.MOMENT:
        return await calls.offset_at(queue, rule.moment_ms)
    return 0


async def find_offset(calls: GroupRequests, queue: MessageQueue, to: int | StartAt) -> int:
    """The offset to go on at: unlike a start, the beginning is asked for, too."""
    if isinstance(to, int):
        return to
    rule = start_rule(to)
    if rule.start is Start.MOMENT:
        return await calls.offset_at(queue, rule.moment_ms)
    if rule.start is Start.LATEST:
        return await calls.end_of(queue)
    return await calls.beginning_of(queue)
