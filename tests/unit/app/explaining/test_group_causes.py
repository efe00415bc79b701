"""Decisions that no broker is needed for; each cause on a real one is in `test_gathering`."""

from dataclasses import replace

from aerobee.app.explaining.facts import GroupFacts, QueueFacts
from aerobee.app.explaining.findings import Cause
from aerobee.app.explaining.group_causes import STUCK_MS, explain_group
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.subscription import MessageModel

NOW_MS = 1_700_000_000_000
QUEUE = MessageQueue("T", "broker-a", QueueId(0))
BEHIND = QueueFacts(0, 10, 4, owner="c", last_pull_ms=NOW_MS - 1000)
GROUP = GroupFacts(
    "g", NOW_MS, model=MessageModel.CLUSTERING, members=("c",), queues={QUEUE: BEHIND}
)


def causes(facts: GroupFacts) -> list[Cause]:
    return [one.cause for one in explain_group(facts)]


def with_queue(state: QueueFacts, **facts: object) -> GroupFacts:
    return replace(GROUP, queues={QUEUE: state}, **facts)  # type: ignore[arg-type]


def test_a_group_that_goes_on_is_only_behind() -> None:
    assert causes(GROUP) == [Cause.BEHIND]
    assert causes(with_queue(replace(BEHIND, at=10))) == [Cause.WELL]


def test_a_pull_is_old_after_a_minute_and_not_before() -> None:
    old = replace(BEHIND, last_pull_ms=NOW_MS - STUCK_MS - 1)
    assert causes(with_queue(old)) == [Cause.STUCK, Cause.BEHIND]
    assert causes(with_queue(replace(old, last_pull_ms=NOW_MS - STUCK_MS))) == [Cause.BEHIND]
    assert causes(with_queue(replace(old, at=10))) == [Cause.WELL]


def test_a_queue_is_nobodys_only_if_everybody_has_answered() -> None:
    nobodys = replace(BEHIND, owner="")
    assert causes(with_queue(nobodys)) == [Cause.UNASSIGNED, Cause.BEHIND]
    silent = with_queue(nobodys, silent=("c",))
    assert causes(silent) == [Cause.SILENT, Cause.BEHIND]


def test_members_of_a_broadcast_are_not_compared_with_the_broker() -> None:
    nobodys = with_queue(replace(BEHIND, owner=""), model=MessageModel.BROADCASTING)
    assert causes(nobodys) == [Cause.WELL]


def test_what_hinders_the_whole_group_comes_first() -> None:
    facts = replace(GROUP, is_enabled=False, forbidden=("T",), model=None, dead_letters=3)
    assert causes(facts) == [
        Cause.DISABLED,
        Cause.FORBIDDEN,
        Cause.NO_MEMBERS,
        Cause.BEHIND,
        Cause.DEAD_LETTERS,
    ]
