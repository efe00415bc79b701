"""A store that Apache's broker wrote with the Java client, opened and read by us.

`tests/vectors` does the same with stores that were written once. Here Apache writes fresh ones,
with and without its record checksum, and is stopped cleanly or killed.
"""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.record import WHOLE, Record
from aerobee.storage.read.time_search import Boundary
from tests.interop.apache import Jars
from tests.interop.apache_sends import APACHE_QUEUES, apache_sends
from tests.interop.both_sides import apache_reads, files_below, index_files, we_read
from tests.interop.seed_store import CONFIG, SETTINGS, Message, Queue, opened, write_topics

pytestmark = pytest.mark.java


class ApacheStore(NamedTuple):
    root: Path
    queues: dict[Queue, list[Message]]
    """What Apache's broker answered before it was stopped."""


def write_with_apache(jars: Jars, folder: Path, *, stop: str, with_crc: bool) -> ApacheStore:
    root = folder / "store"
    write_topics(root)
    crc = str(with_crc).lower()
    settings = {**SETTINGS, "enabledAppendPropCRC": crc, "forceVerifyPropCRC": crc}
    with jars.broker(folder / "broker", root, settings) as broker:
        answers = broker.send(apache_sends())
        assert {answer["status"] for answer in answers} == {"SEND_OK"}
        queues = apache_reads(broker, APACHE_QUEUES)
        if stop == "clean":
            broker.stop()
    assert (root / "abort").exists() == (stop == "kill")
    return ApacheStore(root, queues)


@pytest.fixture(scope="module")
def apache_store(jars: Jars, tmp_path_factory: pytest.TempPathFactory) -> ApacheStore:
    """Stopped cleanly, with record checksums."""
    folder = tmp_path_factory.mktemp("apache")
    return write_with_apache(jars, folder, stop="clean", with_crc=True)


@pytest.fixture
def copy(apache_store: ApacheStore, tmp_path: Path) -> Path:
    return Path(shutil.copytree(apache_store.root, tmp_path / "store"))


def test_we_read_every_message_after_apache_s_clean_stop(
    apache_store: ApacheStore, copy: Path
) -> None:
    assert sum(map(len, apache_store.queues.values())) == 1603
    assert we_read(copy) == apache_store.queues


@pytest.mark.parametrize("with_crc", [True, False], ids=["with record CRC", "without"])
def test_we_read_every_message_after_apache_was_killed(
    jars: Jars, tmp_path: Path, with_crc: bool
) -> None:
    written = write_with_apache(jars, tmp_path, stop="kill", with_crc=with_crc)
    assert we_read(written.root) == written.queues


def test_we_build_the_same_queues_and_index_from_apache_s_log(
    apache_store: ApacheStore, copy: Path
) -> None:
    shutil.rmtree(copy / "consumequeue")
    shutil.rmtree(copy / "index")
    assert we_read(copy) == apache_store.queues
    assert files_below(copy, "consumequeue") == files_below(apache_store.root, "consumequeue")
    assert index_files(copy) == index_files(apache_store.root)


def test_we_find_apache_s_messages_by_key_unique_id_and_time(
    apache_store: ApacheStore, copy: Path
) -> None:
    with opened(copy) as store:
        for (topic, queue_id), messages in apache_store.queues.items():
            queue = store.queue(topic.encode(), queue_id)
            assert queue is not None
            times = [message["storeTimestamp"] for message in messages]
            for message in messages[::25]:
                for key in [message["msgId"], *(message["keys"] or "").split()[:1]]:
                    found = store.records_by_key(topic.encode(), key.encode(), 0, 1 << 62, 10)
                    offsets = [int.from_bytes(record[28:36], "big") for record in found]
                    assert offsets == [message["commitLogOffset"]], key
                time_ms = message["storeTimestamp"]
                offset = store.offset_by_time(queue, time_ms, Boundary.LOWER)
                assert offset == times.index(time_ms)


def test_we_write_the_bytes_that_apache_writes(apache_store: ApacheStore, tmp_path: Path) -> None:
    """Every message again, at the time it was stored: log, queues and index are the same."""
    ours = tmp_path / "ours"
    logs = files_below(apache_store.root, "commitlog")
    store_host = next(iter(logs.values()))[64:72]
    with opened(ours, replace(CONFIG, store_host=store_host)) as store:
        for draft, store_timestamp in _drafts(logs):
            store.append(draft, store_timestamp)
            store.dispatch()
    assert files_below(ours, "commitlog") == logs
    assert files_below(ours, "consumequeue") == files_below(apache_store.root, "consumequeue")
    assert index_files(ours) == index_files(apache_store.root)


def _drafts(logs: dict[str, bytes]) -> Iterator[tuple[MessageDraft, int]]:
    """What a client sent, for every record of the log, and when it was stored."""
    record = Record()
    for log in logs.values():
        view = memoryview(log)
        position = 0
        while record.read_from(view, position) == WHOLE:
            draft = MessageDraft()
            draft.topic = log[record.topic_start :][: record.topic_size]
            draft.queue_id = record.queue_id
            draft.flag = record.flag
            draft.sys_flag = record.sys_flag
            draft.born_timestamp = record.born_timestamp
            draft.born_host = log[position + 48 : position + 56]
            draft.set_body(view[record.body_start :][: record.body_size])
            # The checksum is ours to write again: it is the last 20 bytes.
            draft.set_properties(log[record.properties_start :][: record.properties_size - 20])
            yield draft, record.store_timestamp
            position += record.size
