from dataclasses import replace

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.service.broker.deduplication.sequences_file import LOG_BYTES, SAVE_MS
from tests.broker_kit import STORAGE, SYNC, BrokerKit
from tests.once_kit import (
    ORDERS,
    SEND_ONCE,
    once_fields,
    open_producer,
    place_in,
    send_once,
)
from tests.store_kit import ROOT
from tests.wire import JAVA_FIELDS

PATH = f"{ROOT}/config/producerSequences.json"


def saved(kit: BrokerKit) -> bytes:
    return kit.disk.read(PATH) if kit.disk.exists(PATH) else b""


def test_the_file_is_written_as_it_is_drawn() -> None:
    kit = BrokerKit(ORDERS, storage=SYNC)
    answer = send_once(kit, 0)
    kit.run(SAVE_MS + 1000)
    log_offset = int(place_in(answer)[1][-16:], 16)
    end = kit.store.end_offset
    wall_ms = kit.messages(queue_id=1)[0].store_timestamp
    assert saved(kit).decode() == (
        f'{{"logOffset":{end},"producers":[{{"id":"P","epoch":1,"usedMs":{wall_ms},'
        f'"queues":[{{"topic":"Orders","queueId":1,"floor":0,"runs":[0,1],'
        f'"places":[0,0,{log_offset}]}}]}}]}}'
    )


def test_the_file_never_speaks_of_a_log_that_is_not_on_the_disk() -> None:
    kit = BrokerKit(ORDERS)
    kit.run(SAVE_MS + 1000)
    send_once(kit, 0)
    for _ in range(200):
        kit.tick(20)
        flushed = kit.store.flushed_offset
        kit.worker.run_next()
        if saved(kit):
            break
    assert f'"logOffset":{kit.store.end_offset},'.encode() in saved(kit)
    assert flushed >= kit.store.end_offset


def test_a_clean_stop_saves_everything_and_nothing_where_there_is_nothing() -> None:
    kit = BrokerKit(ORDERS)
    kit.stop()
    assert not saved(kit)
    kit = BrokerKit(disk=kit.disk, clock=kit.clock)
    send_once(kit, 0)
    kit.stop()
    assert b'"runs":[0,1]' in saved(kit)


def test_a_log_that_grows_without_producers_moves_the_file_on() -> None:
    kit = BrokerKit(ORDERS, storage=replace(STORAGE, log_file_bytes=LOG_BYTES * 2))
    body = bytes(1_000_000)
    while kit.store.end_offset < LOG_BYTES:
        assert kit.ask(310, JAVA_FIELDS, body).code == 0
    assert not saved(kit)
    kit.run(1000)
    assert saved(kit).endswith(b'"producers":[]}')


@pytest.mark.parametrize(
    "content",
    [
        b"nothing",
        b'{"logOffset":99999999999,"producers":[]}',
        b'{"logOffset":0,"producers":[{"id":"P","epoch":1,"usedMs":1,"queues":'
        b'[{"topic":"Orders","queueId":1,"floor":0,"runs":[7,3],"places":[]}]}]}',
        b'{"logOffset":0,"producers":[{"id":"P","epoch":1,"usedMs":1,"queues":'
        b'[{"topic":"Orders","queueId":1,"floor":0,"runs":["0",3],"places":[]}]}]}',
    ],
)
def test_a_file_that_cannot_be_believed_is_read_from_the_log_again(content: bytes) -> None:
    kit = BrokerKit(ORDERS)
    first = place_in(send_once(kit, 0))
    kit.stop()
    kit.disk.remove(PATH)
    kit.disk.replace(PATH, content)
    kit = BrokerKit(disk=kit.disk, clock=kit.clock)
    assert place_in(send_once(kit, 0)) == first
    assert open_producer(kit)[1] == {1: 0}


@pytest.mark.parametrize("appends", [0, 1])
def test_sequences_saved_before_a_topic_was_deleted_do_not_count_for_the_next_of_its_name(
    appends: int,
) -> None:
    kit = BrokerKit(ORDERS, TopicConfig("Other", 4, 4))
    assert send_once(kit, 0, b"old").code == 0
    assert kit.ask(SEND_ONCE, other_fields(), b"kept").code == 0
    kit.run(SAVE_MS + 1000)
    assert b'"topic":"Orders"' in saved(kit)
    for _ in range(appends):
        assert kit.ask(310, {**JAVA_FIELDS, "b": "Other", "e": "0"}).code == 0
    assert kit.ask(215, {"topic": "Orders"}).code == 0
    kit = kit.killed()
    assert b'"topic":"Orders"' in saved(kit), "it was not saved since"
    kit.make_topic(ORDERS)
    assert send_once(kit, 0, b"new").ext_fields.get("duplicate") is None
    assert kit.bodies(queue_id=1) == [b"new"]
    assert kit.ask(SEND_ONCE, other_fields(), b"kept").ext_fields["duplicate"] == "true"
    assert kit.bodies("Other", 1) == [b"kept"]


def other_fields() -> dict[str, str]:
    return {**once_fields(0, topic="Other", producer="O"), "b": "Other"}
