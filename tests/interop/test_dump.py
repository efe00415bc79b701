"""The dump that the other tests rely on, checked against an oracle that was made without it."""

from pathlib import Path

import pytest

from tests import fixture_store
from tests.interop.apache import Jars

pytestmark = pytest.mark.java

SETTINGS = {
    # A master would deliver the delayed messages of the store, which have become due since.
    "brokerRole": "SLAVE",
    "brokerId": 1,
    "slaveReadEnable": "true",
    "mappedFileSizeCommitLog": fixture_store.COMMIT_LOG_FILE_BYTES,
    "mappedFileSizeConsumeQueue": fixture_store.CONSUME_QUEUE_FILE_BYTES,
    "mapperFileSizeBatchConsumeQueue": fixture_store.BATCH_CONSUME_QUEUE_FILE_BYTES,
    "maxHashSlotNum": fixture_store.INDEX_SLOTS,
    "maxIndexNum": fixture_store.INDEX_UNITS,
    "messageDelayLevel": fixture_store.DELAY_LEVELS,
}


@pytest.mark.parametrize("name", fixture_store.STORES)
def test_the_java_client_finds_in_a_recorded_store_what_it_found_then(
    jars: Jars, tmp_path: Path, name: str
) -> None:
    root = fixture_store.unpack(name, tmp_path)
    queues = [
        (topic, int(queue_id), queue)
        for topic, described in fixture_store.expected(name)["topics"].items()
        for queue_id, queue in described["queues"].items()
    ]
    with jars.broker(tmp_path / "broker", root, SETTINGS) as broker:
        answers = broker.ask(
            [{"ask": "dump", "topic": topic, "queueId": number} for topic, number, _ in queues]
        )
    for (topic, number, expected), answer in zip(queues, answers, strict=True):
        del answer["count"]
        assert answer == expected, (topic, number)
