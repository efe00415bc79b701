"""Our command line on Apache's name server and broker: the same commands, the same answers."""

import asyncio
from collections.abc import Iterator

import pytest

import aerobee as mq
from tests.cli_kit import aerobee
from tests.interop.apache import Jars
from tests.interop.features.servers import ApacheServer
from tests.server_kit import Server

pytestmark = pytest.mark.java


@pytest.fixture(scope="module")
def server(jars: Jars, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with ApacheServer(tmp_path_factory.mktemp("apache"), jars) as started:
        started.wait_for_figures()
        yield Server(started.name_server)


def _consume(server: Server, topic: str, group: str, count: int) -> None:
    async def receive() -> None:
        async with mq.connect(server.name_server) as client:
            for _ in range(count):
                await client.receive(topic, group=group, timeout=60)

    asyncio.run(receive())


def test_what_there_is_is_listed_and_well(server: Server) -> None:
    (broker,) = aerobee(server, "cluster", "list", "-o", "json").records
    assert broker["version"].startswith("V5")
    facts = aerobee(server, "cluster", "info", "-o", "json").records
    assert facts["brokers"] == 1
    health = aerobee(server, "cluster", "health", "-o", "json")
    assert (health.status, {one["is_well"] for one in health.records}) == (0, {True})
    stats = aerobee(server, "broker", "stats", "--filter", "putTps", "-o", "json").records
    assert stats[0]["figure"] == "putTps"
    assert aerobee(server, "nameserver", "list").status == 0


def test_a_topic_is_made_described_changed_and_deleted(server: Server) -> None:
    assert aerobee(server, "topic", "create", "CliOne", "--queues", "2").status == 0
    assert aerobee(server, "topic", "create", "CliOne").status == 1
    listed = aerobee(server, "topic", "list", "-o", "json").records
    assert [one["queues"] for one in listed if one["topic"] == "CliOne"] == [2]
    facts = aerobee(server, "topic", "describe", "CliOne", "-o", "json").records
    assert (facts["messages"], facts["brokers"][0]["permission"]) == (0, "RW")
    assert aerobee(server, "topic", "update", "CliOne", "--queues", "3").status == 0
    assert len(aerobee(server, "topic", "status", "CliOne", "-o", "json").records) == 3
    assert aerobee(server, "topic", "delete", "CliOne", "--yes").status == 0
    assert aerobee(server, "topic", "describe", "CliOne").status == 3


def test_messages_are_sent_followed_found_and_sent_again(server: Server) -> None:
    aerobee(server, "topic", "create", "CliTwo", "--queues", "1")
    send = ("message", "send", "CliTwo", "body {n}", "--key", "k-{n}", "--tag", "t")
    receipts = aerobee(server, *send, "--count", "3", "-H", "a=b", "-o", "json").records
    assert [one["offset"] for one in receipts] == [0, 1, 2]
    tail = ("message", "tail", "CliTwo", "--from", "earliest", "--count", "3")
    lines = aerobee(server, *tail).out.splitlines()
    assert [line.rsplit("  ", 1)[1] for line in lines] == ["body 1", "body 2", "body 3"]
    get = ("message", "get", "CliTwo")
    while not (by_key := aerobee(server, *get, "--key", "k-2", "-o", "json").records):
        pass  # Apache's index is behind by a moment
    assert (by_key[0]["id"], by_key[0]["headers"]) == (receipts[1]["id"], {"a": "b"})
    for words in ((receipts[1]["id"],), (by_key[0]["offset_id"],)):
        assert aerobee(server, *get, *words, "-o", "json").records == by_key
    assert aerobee(server, "message", "get", "CliTwo@broker-a:0:1", "-o", "json").records == by_key
    between = aerobee(server, *get, "--from", "1h", "--limit", "2", "-o", "json").records
    assert [one["offset"] for one in between] == [0, 1]
    assert aerobee(server, "message", "resend", "CliTwo", receipts[0]["id"]).status == 0
    (queue,) = aerobee(server, "topic", "status", "CliTwo", "-o", "json").records
    assert queue["messages"] == 4
    assert aerobee(server, *get, "C0A8000100002A9F0000000000000F00").status == 3


def test_a_group_is_described_and_sent_elsewhere(server: Server) -> None:
    aerobee(server, "topic", "create", "CliThree", "--queues", "2")
    assert aerobee(server, "group", "create", "cli-three", "--retries", "4").status == 0
    aerobee(server, "message", "send", "CliThree", "x", "--count", "6")
    _consume(server, "CliThree", "cli-three", 6)
    facts = aerobee(server, "group", "describe", "cli-three", "-o", "json").records
    assert (facts["retries_max"], facts["lag"], facts["members"]) == (4, 0, 0)
    reset = ("group", "reset", "cli-three", "CliThree")
    dry = aerobee(server, *reset, "--to", "earliest", "--dry-run", "-o", "json").records
    assert [(one["at"], one["to"], one["again"]) for one in dry] == [(3, 0, 3)] * 2
    for place, at in (("earliest", [0, 0]), ("latest", [3, 3]), ("1h", [0, 0]), ("1", [1, 1])):
        said = aerobee(server, *reset, "--to", place, "--yes")
        assert said.status == 0, said.error
        shown = ("offset", "show", "cli-three", "--topic", "CliThree", "-o", "json")
        assert [one["at"] for one in aerobee(server, *shown).records] == at, place
    assert aerobee(server, "offset", "skip", "cli-three", "CliThree", "--yes").status == 0
    listed = aerobee(server, "group", "list", "-o", "json").records
    assert [one["lag"] for one in listed if one["group"] == "cli-three"] == [0]
    assert aerobee(server, "group", "describe", "cli-nobody").status == 3
    assert aerobee(server, "group", "delete", "cli-three", "--yes").status == 0


def test_settings_and_values_are_read_and_changed(server: Server) -> None:
    get = ("broker", "config", "get", "fileReservedTime", "-o", "json")
    (before,) = aerobee(server, *get).records
    hours = str(int(before["value"]) + 1)
    assert (
        aerobee(server, "broker", "config", "set", f"fileReservedTime={hours}", "--yes").status == 0
    )
    assert [one["value"] for one in aerobee(server, *get).records] == [hours]
    assert aerobee(server, "nameserver", "kv", "put", "shop", "a", "b").status == 0
    assert aerobee(server, "nameserver", "kv", "get", "shop", "a").status == 0
    assert aerobee(server, "nameserver", "kv", "delete", "shop", "a", "--yes").status == 0
    assert aerobee(server, "nameserver", "kv", "get", "shop", "a").status == 3
    assert aerobee(server, "nameserver", "config", "get").status == 0


def test_dead_letters_are_seen_and_sent_again(server: Server) -> None:
    aerobee(server, "topic", "create", "CliFour", "--queues", "1")
    aerobee(server, "message", "send", "CliFour", "bad", "--tag", "t", "--key", "d-1")

    async def give_up() -> None:
        async with mq.connect(server.name_server) as client:
            consumer = client.consumer("CliFour", group="cli-four", start="earliest")
            async with consumer:
                await (await anext(aiter(consumer))).reject()

    asyncio.run(give_up())
    show = ("dlq", "show", "cli-four", "-o", "json")
    while (said := aerobee(server, *show)).status or not said.records:
        pass  # name servers hear of a new topic a moment later
    assert [(one["body"], one["tag"]) for one in said.records] == [("bad", "t")]
    assert aerobee(server, "dlq", "resend", "cli-four", "--key", "d-1", "--yes").status == 0
    _consume(server, "CliFour", "cli-four", 1)


def test_what_apache_has_not_is_said(server: Server) -> None:
    assert aerobee(server, "dlq", "show", "cli-nobody").status == 3
    said = aerobee(server, "transaction", "list")
    assert said.status == 1
    assert "hint: " in said.error
