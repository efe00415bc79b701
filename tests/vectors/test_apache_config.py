"""Every config file that Apache 5.5.0 wrote: read, and written back byte for byte."""

import pytest

from aerobee.protocol.text.json_text import by_number, parse, write_compact, write_pretty
from aerobee.sim.disk import SimDisk
from aerobee.storage.metadata.config_file import ConfigFile
from tests.fixture_store import STORES, expected, files

# The only two that Apache writes without indentation.
COMPACT = ("timermetrics", "transactionMetrics")


@pytest.mark.parametrize("name", STORES)
def test_every_config_file_is_written_back_byte_for_byte(name: str) -> None:
    count = 0
    for packed in files(name):
        # `timercheck` is binary, mapped like the checkpoint.
        if packed.path.startswith("config/") and packed.path != "config/timercheck":
            is_compact = packed.path.removeprefix("config/").removesuffix(".bak") in COMPACT
            write = write_compact if is_compact else write_pretty
            assert write(parse(packed.content())) == packed.content(), packed.path
            count += 1
    assert count == 2 * 9


@pytest.mark.parametrize("name", STORES)
def test_the_topics_in_topics_json_are_those_that_apaches_broker_serves(name: str) -> None:
    disk = SimDisk()
    for packed in files(name):
        if packed.path == "config/topics.json":
            disk.replace(packed.path, packed.content())
    loaded = ConfigFile(disk, "config/topics.json").load()
    assert loaded is not None
    assert loaded.fault == ""
    table = loaded.value["topicConfigTable"]
    assert isinstance(table, dict)
    wanted = expected(name)["topics"]
    # The program that asked has a retry topic of its own, and left it out of its answer.
    assert set(table) - {"%RETRY%fixture-dump"} == set(wanted)
    for topic, described in wanted.items():
        config = table[topic]
        assert isinstance(config, dict)
        for field in ("readQueueNums", "writeQueueNums", "perm", "attributes"):
            assert config[field] == described[field], (topic, field)


def test_committed_offsets_are_read_by_number() -> None:
    content = {packed.path: packed.content() for packed in files("clean")}
    found = parse(content["config/consumerOffset.json"])
    assert isinstance(found, dict)
    table = found["offsetTable"]
    assert isinstance(table, dict)
    for group, topics in expected("clean")["groups"].items():
        for topic, queues in topics.items():
            offsets = table[f"{topic}@{group}"]
            assert isinstance(offsets, dict)
            for queue_id, queue in queues.items():
                assert by_number(offsets)[int(queue_id)] == queue["consumerOffset"]
