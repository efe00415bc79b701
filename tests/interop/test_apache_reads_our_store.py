"""A store that we wrote, opened by Apache's broker and read with the Java client.

The broker runs with `forceVerifyPropCRC`, so recovery checks our record checksums with Apache's own
code. It works on copies: what it changed is found by comparing them with the original.
"""

import hashlib
import shutil
import signal
import subprocess
import sys
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.interop.apache import Broker, Jars
from tests.interop.apache_sends import APACHE_QUEUES, apache_sends
from tests.interop.both_sides import (
    CRC_PROPERTY,
    apache_reads,
    files_below,
    index_files,
    we_read,
)
from tests.interop.seed_store import SETTINGS, Message, Queue, Seeded, burst_body, seed

pytestmark = pytest.mark.java

CHECKED = {**SETTINGS, "enabledAppendPropCRC": "true", "forceVerifyPropCRC": "true"}
BURST_MIN = 500
EVER = {"begin": 0, "end": 1 << 62, "max": 32}

Open = Callable[..., Broker]


class OurStore(NamedTuple):
    root: Path
    start_ms: int
    seeded: Seeded


@pytest.fixture(scope="module")
def our_store(tmp_path_factory: pytest.TempPathFactory) -> OurStore:
    """Stopped cleanly. Stored within the last hour: a delayed message must not be due yet."""
    root = tmp_path_factory.mktemp("ours") / "store"
    start_ms = time.time_ns() // 1_000_000 - 3_600_000
    return OurStore(root, start_ms, seed(root, start_ms))


@pytest.fixture
def copy(our_store: OurStore, tmp_path: Path) -> Path:
    return Path(shutil.copytree(our_store.root, tmp_path / "store"))


@pytest.fixture
def open_with_apache(jars: Jars, tmp_path: Path) -> Iterator[Open]:
    """Start a broker on a store directory; it is killed after the test unless it was stopped."""
    brokers = []

    def start(root: Path, **settings: str) -> Broker:
        brokers.append(jars.broker(tmp_path / "broker", root, {**CHECKED, **settings}))
        return brokers[-1]

    yield start
    for broker in brokers:
        broker.kill()


def test_apache_reads_every_message_after_our_clean_stop(
    our_store: OurStore, copy: Path, open_with_apache: Open
) -> None:
    broker = open_with_apache(copy)
    assert apache_reads(broker, our_store.seeded.queues) == our_store.seeded.queues


def test_apache_leaves_log_queues_and_index_as_we_wrote_them(
    our_store: OurStore, copy: Path, open_with_apache: Open
) -> None:
    open_with_apache(copy).kill()
    folders = ("commitlog", "consumequeue", "index")
    assert files_below(copy, *folders) == files_below(our_store.root, *folders)
    assert (copy / "durable_mark").read_bytes() == (our_store.root / "durable_mark").read_bytes()


def test_apache_finds_our_messages_by_key_tag_unique_id_and_offset(
    our_store: OurStore, copy: Path, open_with_apache: Open
) -> None:
    broker = open_with_apache(copy)
    asked = _searches(our_store.seeded)
    answers = broker.ask([question for question, _ in asked])
    for (question, expected), answer in zip(asked, answers, strict=True):
        _without_crc(answer)
        assert answer == expected, question


def _without_crc(answer: dict[str, Any]) -> None:
    if "properties" in answer:
        del answer["properties"][CRC_PROPERTY]


def _searches(seeded: Seeded) -> list[tuple[dict[str, Any], Any]]:
    """Questions about a sample of the messages, from the first to the last, with their answers."""
    asked: list[tuple[dict[str, Any], Any]] = []
    for (topic, _), message in [*seeded.messages[::40], seeded.messages[-1]]:
        offset = message["commitLogOffset"]
        asked.append(({"ask": "offset", "topic": topic, "offset": offset}, message))
        asked.append(({"ask": "offset", "topic": topic, "offset": offset + 1}, {}))
        unique_id = message["properties"].get("UNIQ_KEY")
        if unique_id is not None:
            asked.append(({"ask": "unique", "topic": topic, "key": unique_id}, message))
        if message["keys"] is not None:
            found = {"ids": [message["offsetMsgId"]]}
            asked.append((_by_key(topic, message["keys"].split(" ")[0]), found))
    # 2,300 messages have this one, in all index files but one: the newest are found.
    newest = {"ids": [message["offsetMsgId"] for message in seeded.queues["SeedRoll", 0][-32:]]}
    asked.append((_by_key("SeedRoll", "shared"), newest))
    asked.append((_by_key("SeedRoll", "nobody has this key"), {"ids": []}))
    [old] = [message for message in seeded.queues["SeedBatch", 0] if message["tags"] == "old"]
    by_tag = {"ask": "tag", "topic": "SeedBatch", "tag": "old", **EVER}
    asked.append((by_tag, {"ids": [old["offsetMsgId"]]}))
    return asked


def _by_key(topic: str, key: str) -> dict[str, Any]:
    return {"ask": "key", "topic": topic, "key": key, **EVER}


@pytest.mark.parametrize("upper", [False, True], ids=["lower bound", "upper bound"])
def test_apache_finds_our_messages_by_time(
    our_store: OurStore, copy: Path, open_with_apache: Open, upper: bool
) -> None:
    broker = open_with_apache(copy)
    asked: list[tuple[Queue, int]] = []
    for queue in (("SeedRoll", 0), ("SeedBatch", 0), ("SeedPlain", 3)):
        times = [message["storeTimestamp"] for message in our_store.seeded.queues[queue]]
        # Between two messages, at one, before the first, after the last; at every file's ends.
        asked += [(queue, time_ms + odd) for time_ms in times[::99] for odd in (-1, 0, 1)]
        asked += [(queue, times[0] - 5000), (queue, times[-1] + 5000)]
    answers = broker.ask(
        [
            {"ask": "time", "topic": topic, "queueId": queue_id, "time": time_ms, "upper": upper}
            for (topic, queue_id), time_ms in asked
        ]
    )
    for (queue, time_ms), answer in zip(asked, answers, strict=True):
        times = [message["storeTimestamp"] for message in our_store.seeded.queues[queue]]
        if upper:
            expected = max(bisect_right(times, time_ms) - 1, 0)
        else:
            expected = bisect_left(times, time_ms)
        assert answer == {"offset": expected}, (queue, time_ms)


def test_apache_builds_the_same_queues_and_index_from_our_log(
    our_store: OurStore, copy: Path, open_with_apache: Open
) -> None:
    shutil.rmtree(copy / "consumequeue")
    shutil.rmtree(copy / "index")
    open_with_apache(copy).kill()
    assert files_below(copy, "consumequeue") == files_below(our_store.root, "consumequeue")
    assert index_files(copy) == index_files(our_store.root)


def test_apache_checks_our_record_checksums(
    our_store: OurStore, copy: Path, open_with_apache: Open
) -> None:
    """One digit of one checksum is wrong: Apache's recovery cuts the log there."""
    roll = our_store.seeded.queues["SeedRoll", 0]
    damaged = roll[1500]
    end = damaged["commitLogOffset"] + damaged["storeSize"]
    log_file = sorted((copy / "commitlog").iterdir())[end >> 20]
    with log_file.open("r+b") as file:
        file.seek((end & 0xFFFFF) - 2)
        digit = file.read(1)
        file.seek(-1, 1)
        file.write(b"7" if digit != b"7" else b"8")
    shutil.rmtree(copy / "consumequeue")
    broker = open_with_apache(copy)
    assert apache_reads(broker, [("SeedRoll", 0)]) == {("SeedRoll", 0): roll[:1500]}


@pytest.fixture(
    scope="module", params=["5000", "2"], ids=["hardly a checkpoint", "many checkpoints"]
)
def killed(
    request: pytest.FixtureRequest, our_store: OurStore, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, int]:
    """A store whose writer was killed in the middle of a burst, and how many were appended.

    The parameter is the time between two checkpoints: they tell Apache where to begin.
    """
    root = tmp_path_factory.mktemp("killed") / "store"
    arguments = [str(root), str(our_store.start_ms), request.param]
    program = [sys.executable, "-m", "tests.interop.seed_store", *arguments]
    appended = 0
    with subprocess.Popen(program, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        try:
            assert writer.stdout.readline() == b"seeded\n"
            while appended < BURST_MIN or (request.param == "2" and not _is_checkpointed(root)):
                assert writer.stdout.readline()
                appended += 1
            writer.send_signal(signal.SIGKILL)
            appended += len(writer.stdout.readlines())
        finally:
            writer.kill()
    assert (root / "abort").exists()
    # The other writer has one, too, where half a second is too short for it.
    assert _is_checkpointed(root) or request.param != "2"
    return root, appended


def _is_checkpointed(root: Path) -> bool:
    """Whether the checkpoint names a log offset from which Apache shall begin."""
    return any((root / "checkpoint").read_bytes()[40:48])


def test_apache_reads_every_message_after_our_writer_was_killed(
    our_store: OurStore, killed: tuple[Path, int], tmp_path: Path, open_with_apache: Open
) -> None:
    root, appended = killed
    broker = open_with_apache(Path(shutil.copytree(root, tmp_path / "store")))
    bursts = [("SeedBurst", 0), ("SeedBurst", 1)]
    found = apache_reads(broker, [*our_store.seeded.queues, *bursts])
    burst = [found.pop(queue) for queue in bursts]
    assert found == our_store.seeded.queues
    _check_burst(burst, appended)


def _check_burst(burst: list[list[Message]], appended: int) -> None:
    """Every message that was appended is there; the writer may have been one ahead."""
    assert sum(map(len, burst)) in (appended, appended + 1)
    for queue_id, messages in enumerate(burst):
        for index, message in enumerate(messages):
            body = burst_body(index * 2 + queue_id)
            assert message["bodySha256"] == hashlib.sha256(body).hexdigest()


def test_apache_finds_our_messages_by_key_after_our_writer_was_killed(
    our_store: OurStore, killed: tuple[Path, int], tmp_path: Path, open_with_apache: Open
) -> None:
    broker = open_with_apache(Path(shutil.copytree(killed[0], tmp_path / "store")))
    asked = _searches(our_store.seeded)
    answers = broker.ask([question for question, _ in asked])
    for (question, expected), answer in zip(asked, answers, strict=True):
        _without_crc(answer)
        if "ids" in answer:
            # Apache's recovery indexes the last message of an index file once more: of 32 that may
            # be found, one may be found twice.
            found = list(dict.fromkeys(answer["ids"]))
            missing = len(expected["ids"]) - len(found)
            assert missing in (0, len(answer["ids"]) - len(found)), question
            assert found == expected["ids"][missing:], question
        else:
            assert answer == expected, question


@pytest.mark.parametrize(
    ("with_crc", "stop"),
    [("true", Broker.stop), ("false", Broker.stop), ("false", Broker.kill)],
    ids=["with record CRC", "without", "without, and was killed"],
)
def test_we_read_our_store_after_apache_went_on_with_it(
    our_store: OurStore,
    copy: Path,
    open_with_apache: Open,
    with_crc: str,
    stop: Callable[[Broker], None],
) -> None:
    settings = {"enabledAppendPropCRC": with_crc, "forceVerifyPropCRC": "false"}
    broker = open_with_apache(copy, **settings)
    broker.send(apache_sends())
    expected = apache_reads(broker, [*our_store.seeded.queues, *APACHE_QUEUES])
    stop(broker)
    assert we_read(copy) == expected
    # And round again: what we left after opening it, Apache opens.
    assert apache_reads(open_with_apache(copy, **settings), expected) == expected
