import asyncio
from collections.abc import Sequence

import pytest

from aerobee.console.watch.catalogue import (
    Kept,
    asked_in_parts,
    by_name,
    kind_of,
    or_none,
    permission_word,
)
from aerobee.errors import Misuse, PartlyDone
from tests.console_kit import ConsoleClient


def test_an_answer_is_kept_for_a_moment_and_longer_if_it_was_dear() -> None:
    async def live() -> None:
        now, asked = 0.0, 0

        async def ask() -> int:
            nonlocal asked, now
            asked += 1
            now += 1.0 if asked > 1 else 0.0  # the second time it takes a second
            return asked

        kept = Kept(ask, lambda: now)
        assert list(await asyncio.gather(kept.answer(), kept.answer())) == [1, 1]
        now = 1.9
        assert await kept.answer() == 1
        now = 2.0
        assert await kept.answer() == 2
        now = 40.0
        assert await kept.answer() == 2
        kept.forget()
        assert await kept.answer() == 3

    asyncio.run(live())


def test_masters_that_answer_are_enough_and_none_is_an_error() -> None:
    async def ask(*, on: Sequence[str]) -> dict[str, int]:
        if "broken" in on:
            done = {place: b"not read" for place in on if place != "broken"}
            raise PartlyDone(done=done, failed={"broken": Misuse("x")}) if done else Misuse("x")
        return {place: len(place) for place in on}

    told = asyncio.run(asked_in_parts(ask, ["a", "broken", "bb", "c", "dd", "e"]))
    assert {place: answer for part in told for place, answer in part.items()} == {
        "a": 1,
        "bb": 2,
        "c": 1,
        "dd": 2,
        "e": 1,
    }
    assert asyncio.run(asked_in_parts(ask, [])) == []
    with pytest.raises(Misuse):
        asyncio.run(asked_in_parts(ask, ["broken"]))


def test_an_error_may_be_an_answer() -> None:
    async def fail() -> int:
        raise Misuse("x")

    found, error = asyncio.run(or_none(fail()))
    assert found is None
    assert error is not None


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
