import asyncio
from collections.abc import Mapping, Sequence

import pytest

from aerobee.client.core.known_table import KnownTable
from aerobee.console.watch.broker_tables import BrokerTables, in_parts, in_time, or_none
from aerobee.errors import Misuse, PartlyDone
from aerobee.model.topic import DataVersion, TopicConfig

MASTERS = {"broker-a": "10.0.0.1:10911", "broker-b": "10.0.0.2:10911"}


def test_rows_are_put_together_only_when_a_table_has_changed() -> None:
    async def live() -> None:
        tables = {
            address: KnownTable(DataVersion(counter=1), [TopicConfig("orders"), TopicConfig(name)])
            for name, address in MASTERS.items()
        }

        async def ask(
            known: Mapping[str, KnownTable[TopicConfig]], *, on: Sequence[str]
        ) -> dict[str, KnownTable[TopicConfig]]:
            return {place: tables[place] for place in on}

        asked = BrokerTables(ask)
        found = await asked.by_name(MASTERS)
        assert found is not None
        assert {name: sorted(configs) for name, configs in found.items()} == {
            "orders": ["broker-a", "broker-b"],
            "broker-a": ["broker-a"],
            "broker-b": ["broker-b"],
        }
        assert await asked.by_name(MASTERS) is None
        assert asked.joined() == found
        tables[MASTERS["broker-b"]] = KnownTable(DataVersion(counter=2), [TopicConfig("orders")])
        found = await asked.by_name(MASTERS)
        assert found is not None
        assert sorted(found) == ["broker-a", "orders"]
        found = await asked.by_name({"broker-a": MASTERS["broker-a"]})
        assert found is not None
        assert sorted(found["orders"]) == ["broker-a"]
        found = await asked.by_name({"renamed": MASTERS["broker-a"]})
        assert found is not None
        assert sorted(found["orders"]) == ["renamed"]

    asyncio.run(live())


def test_masters_that_answer_are_enough_and_none_is_an_error() -> None:
    async def ask(*, on: Sequence[str]) -> dict[str, int]:
        if "broken" in on:
            done = {place: b"not read" for place in on if place != "broken"}
            raise PartlyDone(done=done, failed={"broken": Misuse("x")}) if done else Misuse("x")
        return {place: len(place) for place in on}

    async def asked(*places: str) -> dict[str, int]:
        return {place: told async for part in in_parts(ask, places) for place, told in part.items()}

    told = asyncio.run(asked("a", "broken", "bb", "c", "dd", "e"))
    assert told == {"a": 1, "bb": 2, "c": 1, "dd": 2, "e": 1}
    assert asyncio.run(asked()) == {}
    with pytest.raises(Misuse):
        asyncio.run(asked("broken"))


def test_an_error_may_be_an_answer() -> None:
    async def fail() -> int:
        raise Misuse("x")

    found, error = asyncio.run(or_none(fail()))
    assert found is None
    assert error is not None


def test_a_client_that_refuses_has_no_answer_and_others_have_theirs() -> None:
    async def refuse() -> int:
        raise Misuse("no")

    async def tell() -> int:
        return 7

    async def live() -> tuple[int | None, int | None]:
        return await in_time(refuse()), await in_time(tell())

    assert asyncio.run(live()) == (None, 7)
