"""Traces of our client at Apache's broker, as Apache's own mqadmin reads them."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import aerobee as mq
from tests.consume_kit import take
from tests.interop.apache import Jars
from tests.interop.features.servers import ApacheServer
from tests.interop.features.waiting import until
from tests.interop.mqadmin.admin import Admin

pytestmark = pytest.mark.java


@pytest.fixture(scope="module")
def server(jars: Jars, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheServer]:
    folder: Path = tmp_path_factory.mktemp("apache")
    with ApacheServer(folder, jars) as started:
        yield started


def test_mqadmin_shows_sends_batches_and_what_consumers_did(
    server: ApacheServer, tmp_path: Path
) -> None:
    async def go() -> tuple[str, list[str]]:
        async with asyncio.timeout(90), mq.connect(server.name_server, trace=True) as client:
            await client.admin.topics.create("traced", queues=1)
            one = await client.send("traced", b"one", keys=["k"])
            many = await client.send_batch("traced", [b"two", b"three"])
            async with client.consumer("traced", group="readers", start="earliest") as consumer:
                await take(consumer, 3)
            return one.message_id, [receipt.message_id for receipt in many]

    single, members = asyncio.run(go())
    with Admin(tmp_path / "admin", server.name_server) as admin:

        def rows(message_id: str, wanted: int) -> list[tuple[str, str]]:
            """Who did what, once so much was found: an index is written a moment later."""

            def look() -> list[tuple[str, str]]:
                words = ["queryMsgTraceById", "-i", message_id, "-n", server.name_server]
                found = re.findall(r"^(Pub|Sub) .* (\w+) *$", admin.run(words, 60).text, re.M)
                return found if len(found) >= wanted else []

            return until(look, 60, f"no trace of {message_id}")

        assert rows(single, 2) == [("Pub", "success"), ("Sub", "success")]
        assert rows(",".join(members), 1) == [("Pub", "success")]
        assert rows(members[1], 1) == [("Sub", "success")]
