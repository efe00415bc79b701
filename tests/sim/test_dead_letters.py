from collections.abc import Iterable
from dataclasses import replace

from aerobee.model.group import RETRIES_MAX
from aerobee.model.message import StoredMessage
from tests.delay_kit import message
from tests.sim.consumer import Taste
from tests.sim.dead_letters import early_deaths
from tests.sim.plan import POPPERS, TOPICS, draw_plan
from tests.sim.runner import run_plan

RETRY = (f"%RETRY%{POPPERS}_Orders", 0)
DEAD = (f"%DLQ%{POPPERS}", 0)


def test_a_group_that_takes_nothing_has_all_as_dead_letters_and_nothing_is_waited_for() -> None:
    plan, generator = draw_plan(0)
    taste = Taste(POPPERS, TOPICS[:1], 50, 0.5, is_popping=True)
    told = run_plan(plan._replace(tastes=[taste]), generator)
    assert not told.breaches, told.explain()
    assert told.counts["dead"] > 0


def test_a_dead_letter_that_came_back_every_time_did_not_die_early() -> None:
    assert not list(early_deaths(_queues(range(1, RETRIES_MAX + 1)), POPPERS))


def test_a_dead_letter_that_came_back_once_less_died_early() -> None:
    most = [times for times in range(1, RETRIES_MAX + 1) if times != 7]
    assert list(early_deaths(_queues(most), POPPERS)) == [
        f"b'p0-1/0' of {POPPERS} never came back as number 7"
    ]


def test_copies_of_another_message_or_group_do_not_count() -> None:
    every = range(1, RETRIES_MAX + 1)
    for copies in (
        {RETRY: [_tried(times, b"p0-2/0|x") for times in every]},
        {(f"%RETRY%{POPPERS}2_Orders", 0): [_tried(times) for times in every]},
    ):
        assert list(early_deaths(_queues(()) | copies, POPPERS))


def test_a_dead_letter_says_that_it_was_tried_as_often_as_allowed() -> None:
    queues = _queues(range(1, RETRIES_MAX + 1)) | {DEAD: [_tried(RETRIES_MAX)]}
    assert list(early_deaths(queues, POPPERS)) == [f"b'p0-1/0' of {POPPERS} was tried 16 times"]


def _queues(came_back: Iterable[int]) -> dict[tuple[str, int], list[StoredMessage]]:
    """One dead letter, and the tries that are in the retry topic."""
    return {RETRY: [_tried(times) for times in came_back], DEAD: [_tried(RETRIES_MAX + 1)]}


def _tried(times: int, body: bytes = b"p0-1/0|x") -> StoredMessage:
    return replace(message(body), reconsume_times=times)
