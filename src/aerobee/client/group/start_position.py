"""Offsets by what people call them: an end of a queue, a moment, a number.

Where a new group begins is one question, where a reader goes on is another: for the first, the
beginning is 0 whatever the queue still has, as Java has it, and the first pull corrects it.
"""

from aerobee.client.api.consumer_options import StartAt, start_rule
from aerobee.client.core.consume.start_rule import Ask, Start, StartRule, question
from aerobee.client.group.group_requests import GroupRequests
from aerobee.model.message_queue import MessageQueue


async def first_offset(calls: GroupRequests, queue: MessageQueue, rule: StartRule) -> int:
    """Where a group begins that has no offset in a queue."""
    asked = question(rule, queue.topic)
    if asked is Ask.END:
        return await calls.end_of(queue)
    if asked is Ask.MOMENT:
        return await calls.offset_at(queue, rule.moment_ms)
    return 0


async def find_offset(calls: GroupRequests, queue: MessageQueue, to: int | StartAt) -> int:
    """Where to go on: unlike a start, the beginning is asked for, too."""
    if isinstance(to, int):
        return to
    rule = start_rule(to)
    if rule.start is Start.MOMENT:
        return await calls.offset_at(queue, rule.moment_ms)
    if rule.start is Start.LATEST:
        return await calls.end_of(queue)
    return await calls.beginning_of(queue)
