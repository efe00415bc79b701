import asyncio

import pytest

from aerobee.console.watch.catalogue import Kept, by_name, kind_of, permission_word
from tests.console_kit import ConsoleClient


def test_an_answer_is_kept_for_a_moment_and_later_ones_longer_if_they_were_dear() -> None:
    async def live() -> None:
        now, asked = 0.0, 0

        async def ask() -> int:
            nonlocal asked, now
            asked += 1
            now += 1.0  # that it takes
            return asked

        kept = Kept(ask, lambda: now)
        assert list(await asyncio.gather(kept.answer(), kept.answer())) == [1, 1]
        now = 2.9
        assert await kept.answer() == 1
        now = 3.0  # what the first question cost does not count
        assert await kept.answer() == 2
        now = 53.0
        assert await kept.answer() == 2
        kept.forget()
        assert await kept.answer() == 3

    asyncio.run(live())


@pytest.mark.parametrize(
    ("topic", "kind"),
    [
        ("orders", "normal"),
        ("%RETRY%billing", "retry"),
        ("%DLQ%billing", "dead_letter"),
        ("TBW102", "system"),
        ("broker-a", "system"),
        ("rmq_sys_wheel_timer", "system"),
    ],
)
def test_a_topic_has_a_kind_by_its_name(topic: str, kind: str) -> None:
    assert kind_of(topic, frozenset({"broker-a"})) == kind


def test_permissions_are_words() -> None:
    assert [permission_word(one) for one in (6, 4, 2, 0, 7)] == ["rw", "r", "w", "-", "rw"]


def test_names_are_found_whatever_the_case() -> None:
    assert by_name(["Orders", "payments"], "ORD") == ["Orders"]


def test_a_change_of_the_console_is_seen_at_once(console: ConsoleClient) -> None:
    before = console.get("/api/topics")["total"]
    for number in range(2):
        told = console.change("POST", "/api/topics", {"name": f"seen-{number}", "queues": 1})
        assert told.status == 200, told.body
        assert console.get("/api/topics")["total"] == before + 1 + number
    for number in range(2):
        body = {"confirm": f"seen-{number}"}
        assert console.change("DELETE", f"/api/topics/seen-{number}", body).status == 200
