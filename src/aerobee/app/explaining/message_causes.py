"""Causes why a message was not consumed, by one group or by any: facts → findings.

    the message itself     not there, expired, not decided, not due yet, nowhere to be sent
    and then, by group     hindered, filtered, dead, in retry, consumed, or where it waits

Pure functions: no request is sent and no clock is read.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from aerobee.app.explaining.facts import GroupFacts, MessageFacts
from aerobee.app.explaining.findings import Cause, CauseFinding
from aerobee.app.explaining.group_causes import find_hindrances, find_queue_fault
from aerobee.app.explaining.wanting import find_reason_against
from aerobee.model.message import StoredMessage
from aerobee.model.message_queue import MessageQueue
from aerobee.model.names import (
    TRANSACTION_HALF_TOPIC,
    dead_letter_topic,
    pop_retry_topic,
    retry_topic,
)
from aerobee.model.properties import DELAY, TIMER_OUT_MS


def explain_message(facts: MessageFacts, groups: Iterable[GroupFacts]) -> list[CauseFinding]:
    """Return the cause that concerns all groups, or else a finding for each group."""
    general = find_general_cause(facts)
    if general is not None:
        return [general]
    return [finding for group in groups for finding in _explain_for(facts, group)]


def find_general_cause(facts: MessageFacts) -> CauseFinding | None:
    """Return why no group can have consumed a message; None: a group may have."""
    name, topic = facts.message_id, facts.topic
    if facts.open is not None:
        asked = f"asked about it {facts.open.check_times} times"
        online = asked if facts.open.is_group_online else "of whom nobody is online"
        return CauseFinding(
            Cause.HALF,
            f"its transaction is not decided yet: for {facts.open.topic}, by the producers of "
            f"{facts.open.group}, {online}",
            f"aerobee transaction commit {name} --dry-run",
        )
    if not facts.copies:
        return _missing(facts)
    if not facts.has_route:
        return CauseFinding(
            Cause.NO_ROUTE,
            f"no name server knows a broker that has {topic}: nobody is sent there",
            f"aerobee topic route {topic}",
        )
    if facts.in_topic(topic):
        return None
    waiting = facts.waiting_for(topic)
    if waiting:
        return _delayed(facts, waiting[-1])
    if facts.in_topic(TRANSACTION_HALF_TOPIC):
        return CauseFinding(
            Cause.ROLLED_BACK,
            f"its transaction was rolled back, or given up: {topic} never had it",
            "aerobee transaction list --given-up",
        )
    return None


def _missing(facts: MessageFacts) -> CauseFinding:
    name, topic = facts.message_id, facts.topic
    if not facts.has_route:
        return CauseFinding(
            Cause.NO_ROUTE,
            f"no name server knows a broker that has {topic}",
            f"aerobee topic route {topic}",
        )
    if facts.is_gone or 0 < facts.born_ms < facts.oldest_ms:
        return CauseFinding(
            Cause.EXPIRED,
            f"it is older than the oldest message that is still there, of {_at(facts.oldest_ms)}: "
            "its log was deleted",
            f"aerobee topic status {topic}" if topic else "aerobee cluster info",
        )
    where = f"in {topic}" if topic else "in any topic"
    return CauseFinding(
        Cause.NOT_FOUND,
        f"no message of this id is {where}: is the id whole, and the topic the right one?",
        f"aerobee message get {topic or 'TOPIC'} {name}",
    )


def _delayed(facts: MessageFacts, waiting: StoredMessage) -> CauseFinding:
    return CauseFinding(
        Cause.DELAYED,
        f"it is to be delivered to {facts.topic} at {_at(_due_ms(facts, waiting))}",
        f"aerobee message get {waiting.topic} {facts.message_id}",
    )


def _due_ms(facts: MessageFacts, waiting: StoredMessage) -> int:
    """Return the delivery time of a message that waits in a system topic."""
    exact = waiting.properties.get(TIMER_OUT_MS, "")
    if exact.isdigit():
        return int(exact)
    level = waiting.properties.get(DELAY, "")
    levels = facts.delay_levels_ms
    if level.isdigit() and 0 < int(level) <= len(levels):
        return waiting.store_timestamp + levels[int(level) - 1]
    return waiting.store_timestamp


def _explain_for(facts: MessageFacts, group: GroupFacts) -> list[CauseFinding]:
    """Return the finding for one group."""
    dead = facts.in_topic(dead_letter_topic(group.group))
    if dead:
        return [_dead(facts, group, dead[-1][1])]
    retried = _find_retry(facts, group)
    if retried is not None:
        return [retried]
    found = facts.in_topic(facts.topic)
    if not found:
        return []
    broker, message = found[-1]
    queue = MessageQueue(message.topic, broker, message.queue_id)
    state = group.queues.get(queue)
    is_past = state is not None and state.at > message.queue_offset
    reason = _filter_reason(group, message)
    if is_past:
        return [_passed(facts, group, queue, reason)]
    if group.is_broadcasting:
        return [
            CauseFinding(
                Cause.BROADCAST,
                f"each of {len(group.members)} members gets it, and keeps to itself how far it is",
                f"aerobee group members {group.group}",
                group.group,
            )
        ]
    hindrances = [*find_hindrances(group, facts.topic)]
    if hindrances:
        return hindrances
    if state is not None:
        fault = find_queue_fault(group, queue, state)
        if fault is not None:
            return [fault]
    if reason is not None:
        return [_filtered(group, reason, "it will be passed over")]
    return [_waiting(group, queue, message)]


def _dead(facts: MessageFacts, group: GroupFacts, letter: StoredMessage) -> CauseFinding:
    return CauseFinding(
        Cause.DEAD_LETTER,
        f"given up after {letter.reconsume_times} retries, at {_at(letter.store_timestamp)}",
        f"aerobee dlq resend {group.group} {facts.message_id} --dry-run",
        group.group,
    )


def _find_retry(facts: MessageFacts, group: GroupFacts) -> CauseFinding | None:
    """Return the finding if the group has failed to handle the message, and will get it again."""
    topic = retry_topic(group.group)
    popped = pop_retry_topic(group.group, facts.topic)
    waited, came = facts.waiting_for(topic), facts.in_topic(topic) + facts.in_topic(popped)
    newest = came[-1][1] if came else None
    if waited and (newest is None or waited[-1].reconsume_times > newest.reconsume_times):
        waiting = waited[-1]
        level = waiting.properties.get(DELAY, "")
        at_level = f", at delay level {level}" if level else ""
        return CauseFinding(
            Cause.IN_RETRY,
            f"it failed {waiting.reconsume_times} times and comes again at "
            f"{_at(_due_ms(facts, waiting))}{at_level}",
            f"aerobee message get {waiting.topic} {facts.message_id}",
            group.group,
        )
    if newest is None:
        return None
    queue = MessageQueue(newest.topic, came[-1][0], newest.queue_id)
    state = group.queues.get(queue)
    if state is not None and state.at > newest.queue_offset:
        return CauseFinding(
            Cause.CONSUMED,
            f"after {newest.reconsume_times} retries",
            f"aerobee message trace {facts.message_id}",
            group.group,
        )
    return CauseFinding(
        Cause.IN_RETRY,
        f"it failed {newest.reconsume_times} times and is due: it waits in {queue}, behind "
        f"{newest.queue_offset - max(0, state.at if state is not None else 0)} others",
        f"aerobee group describe {group.group}",
        group.group,
    )


def _filter_reason(group: GroupFacts, message: StoredMessage) -> str | None:
    wanted = group.subscriptions.get(message.topic)
    return None if wanted is None else find_reason_against(wanted, message)


def _passed(
    facts: MessageFacts, group: GroupFacts, queue: MessageQueue, reason: str | None
) -> CauseFinding:
    if reason is not None:
        return _filtered(group, reason, "it was passed over")
    if group.mismatches.get(facts.topic):
        return next(
            one for one in find_hindrances(group, facts.topic) if one.cause is Cause.MISMATCH
        )
    at = group.queues[queue].at
    return CauseFinding(
        Cause.CONSUMED,
        f"the group is past it: at {at} of {queue}",
        f"aerobee message trace {facts.message_id}",
        group.group,
    )


def _filtered(group: GroupFacts, reason: str, what: str) -> CauseFinding:
    return CauseFinding(
        Cause.FILTERED,
        f"{what}: {reason}",
        f"aerobee group subscriptions {group.group}",
        group.group,
    )


def _waiting(group: GroupFacts, queue: MessageQueue, message: StoredMessage) -> CauseFinding:
    state = group.queues.get(queue)
    at = max(state.at, state.start) if state is not None else 0
    if group.is_popping:
        return CauseFinding(
            Cause.NOT_REACHED,
            f"nobody has acknowledged it: a member is to pop it of {queue}, or has it for a while",
            f"aerobee group describe {group.group} --watch",
            group.group,
        )
    if state is not None and state.pulled > message.queue_offset:
        return CauseFinding(
            Cause.IN_HAND,
            f"{state.owner or 'a member'} has it, and has not said that it is done",
            f"aerobee mqadmin consumerStatus -g {group.group} -i {state.owner} -s",
            group.group,
        )
    return CauseFinding(
        Cause.NOT_REACHED,
        f"{message.queue_offset - at} messages of {queue} come before it",
        f"aerobee group describe {group.group} --watch",
        group.group,
    )


def _at(wall_ms: int) -> str:
    return f"{datetime.fromtimestamp(wall_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
