"""Causes of trouble with a group, in all or for one topic: facts → findings, the worst first.

Pure functions: no request is sent and no clock is read.
"""

from collections.abc import Iterator

from aerobee.app.explaining.facts import GroupFacts, QueueFacts
from aerobee.app.explaining.findings import Cause, CauseFinding
from aerobee.model.message_queue import MessageQueue
from aerobee.model.names import is_retry_topic

STUCK_MS = 60_000
"""Whoever has not pulled for so long, though pulls are held for a quarter of that at most."""


def explain_group(facts: GroupFacts) -> list[CauseFinding]:
    """Return all causes that keep a group from consuming; if there is none, the finding that all is
    well."""
    found = [*find_hindrances(facts)]
    for queue, state in sorted(facts.queues.items()):
        finding = find_queue_fault(facts, queue, state)
        if finding is not None:
            found.append(finding)
    found += _lasting(facts)
    if not found:
        members = len(facts.members)
        found.append(
            CauseFinding(
                Cause.WELL,
                f"{members} {'member' if members == 1 else 'members'}, nothing waits",
                f"aerobee group describe {facts.group}",
                facts.group,
            )
        )
    return found


def find_hindrances(facts: GroupFacts, topic: str = "") -> Iterator[CauseFinding]:
    """Return causes that keep the whole group from consuming, in all topics or in one."""
    group = facts.group
    if not facts.is_known and facts.model is None:
        yield CauseFinding(
            Cause.NO_GROUP,
            "no broker has the group, nobody of it is online and it has consumed nothing",
            "aerobee group list",
            group,
        )
        return
    if not facts.is_enabled:
        yield CauseFinding(
            Cause.DISABLED,
            "a broker lets nobody of the group consume",
            f"aerobee mqadmin updateSubGroup -c CLUSTER -g {group} -s true",
            group,
        )
    for forbidden in facts.forbidden:
        if topic in ("", forbidden):
            yield CauseFinding(
                Cause.FORBIDDEN,
                f"the group may not read {forbidden}",
                f"aerobee group subscriptions {group}",
                group,
            )
    if facts.model is None:
        yield CauseFinding(
            Cause.NO_MEMBERS,
            "nobody of the group is online: start its consumers",
            f"aerobee group members {group}",
            group,
        )
    yield from _disagreements(facts, topic)


def _disagreements(facts: GroupFacts, topic: str) -> Iterator[CauseFinding]:
    for about, said in sorted(facts.mismatches.items()):
        if topic in ("", about):
            views = "; ".join(
                f"{', '.join(clients)} {'wants' if len(clients) == 1 else 'want'} {text!r}"
                for text, clients in said.items()
            )
            yield CauseFinding(
                Cause.MISMATCH,
                f"members disagree on {about}, and some miss messages: {views}",
                f"aerobee group subscriptions {facts.group}",
                facts.group,
            )
    if topic and facts.model is not None and topic not in facts.subscriptions:
        wanted = ", ".join(one for one in facts.subscriptions if not is_retry_topic(one))
        yield CauseFinding(
            Cause.NOT_SUBSCRIBED,
            f"its members do not subscribe to {topic}, only to {wanted or 'nothing'}",
            f"aerobee group subscriptions {facts.group}",
            facts.group,
        )


def find_queue_fault(
    facts: GroupFacts, queue: MessageQueue, state: QueueFacts
) -> CauseFinding | None:
    """Return why no consumer makes progress in a queue; None: there is progress."""
    group = facts.group
    if not state.is_readable:
        return CauseFinding(
            Cause.NOT_READABLE,
            f"{queue} may not be read: {queue.topic} has no such permission there",
            f"aerobee topic update {queue.topic} --permission RW --on {queue.broker_name}",
            group,
        )
    if facts.model is None or facts.is_broadcasting or not state.lag:
        return None
    if state.is_paused:
        return CauseFinding(
            Cause.PAUSED,
            f"{state.owner} has paused {queue}, {state.lag} behind",
            f"aerobee group describe {group}",
            group,
        )
    if not state.owner:
        if facts.silent or facts.is_popping:  # one of those may have it, or all of these
            return None
        return CauseFinding(
            Cause.UNASSIGNED,
            f"none of {len(facts.members)} members has {queue}, {state.lag} behind",
            f"aerobee group members {group}",
            group,
        )
    if 0 < state.last_pull_ms < facts.now_ms - STUCK_MS:
        seconds = (facts.now_ms - state.last_pull_ms) // 1000
        return CauseFinding(
            Cause.STUCK,
            f"{state.owner} has not pulled {queue} for {seconds} s, {state.lag} behind: it is "
            "paused, or its handlers do not end",
            f"aerobee mqadmin consumerStatus -g {group} -i {state.owner} -s",
            group,
        )
    return None


def _lasting(facts: GroupFacts) -> Iterator[CauseFinding]:
    """Yield findings that may be intended."""
    group = facts.group
    if facts.silent:
        yield CauseFinding(
            Cause.SILENT,
            f"{', '.join(facts.silent)} did not say which queues it has",
            f"aerobee group members {group}",
            group,
        )
    lag = sum(state.lag for state in facts.queues.values())
    if lag and not facts.is_broadcasting:
        topics = ", ".join(sorted({queue.topic for queue, one in facts.queues.items() if one.lag}))
        yield CauseFinding(
            Cause.BEHIND, f"{lag} behind in {topics}", f"aerobee group describe {group}", group
        )
    if facts.dead_letters:
        yield CauseFinding(
            Cause.DEAD_LETTERS,
            f"it has given up {facts.dead_letters}",
            f"aerobee dlq show {group}",
            group,
        )
