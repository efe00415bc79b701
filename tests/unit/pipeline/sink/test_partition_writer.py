import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.sink.partition_writer import PartitionWriter, WriteTask, write_partition
from aerobee.pipeline.sink.write_round import Succeeded, finish_write
from aerobee.pipeline.spark.worker_client import kept
from tests.server_kit import Server
from tests.sink_kit import all_values, batch, numbered, options_of, stored, write


def numbers(count: int, start: int = 0) -> list[bytes]:
    return sorted(str(row).encode() for row in range(start, start + count))


def begun(server: Server, topic: str, task: WriteTask, **more: str) -> PartitionWriter:
    options = options_of(server, topic, **more)
    return PartitionWriter(kept(options.target, 3.0), options, task)


def test_every_row_is_stored_with_what_its_columns_say(server: Server) -> None:
    rows = batch(
        ["a", "b"],
        key=[b"k1", None],
        tags=["red", None],
        properties=["mine\x01yes\x02UNIQ_KEY\x01old\x02", None],
    )
    assert write(server, "SinkColumns", [rows]) == 2
    (found,) = stored(server, "SinkColumns", "value,key,tags,properties").values()
    first, second = found
    assert (first["value"], first["key"], first["tags"]) == (b"a", b"k1", "red")
    assert first["properties"].startswith("mine\x01yes\x02KEYS\x01k1\x02TAGS\x01red\x02__DEDUP\x01")
    assert (second["value"], second["key"], second["tags"]) == (b"b", None, None)


def test_a_task_that_is_done_again_stores_nothing_twice(server: Server) -> None:
    task = WriteTask("again", 4, 2)
    for size in (300, 70, 1000):
        write(server, "SinkAgain", numbered(1000, size), task=task, requestBytes="4000")
    assert all_values(server, "SinkAgain") == numbers(1000)


def test_an_attempt_that_was_cut_short_is_finished_by_the_next(server: Server) -> None:
    task = WriteTask("cut", 0, 0)
    first = begun(server, "SinkCut", task, requestBytes="2000")
    for rows in numbered(500):
        first.take(rows)
    first.abandon()
    before = len(all_values(server, "SinkCut"))
    assert 0 < before < 500
    write(server, "SinkCut", numbered(800), task=task)
    assert all_values(server, "SinkCut") == numbers(800)


def test_the_next_batch_of_a_query_is_stored_whatever_it_holds(server: Server) -> None:
    for number in range(3):
        write(server, "SinkRounds", numbered(50), task=WriteTask("rounds", number, 0))
    assert len(all_values(server, "SinkRounds")) == 150


def test_an_attempt_that_another_has_succeeded_stores_no_more(server: Server) -> None:
    task = WriteTask("two", 7, 0)
    first = begun(server, "SinkTwo", task, requestBytes="1000")
    first.take(numbered(100)[0])
    second = begun(server, "SinkTwo", task)
    second.take(batch(["0"]))
    with pytest.raises(Succeeded, match="another attempt"):
        first.take(numbered(100, start=100)[0])
    first.abandon()
    second.abandon()
    write(server, "SinkTwo", numbered(300), task=task)
    assert all_values(server, "SinkTwo") == numbers(300)


def test_a_batch_behind_the_last_one_is_refused(server: Server) -> None:
    write(server, "SinkOld", numbered(10), task=WriteTask("old", 3, 0))
    with pytest.raises(Succeeded, match="round 2 of old/0 is over"):
        write(server, "SinkOld", numbered(10), task=WriteTask("old", 2, 0))
    assert all_values(server, "SinkOld") == numbers(10)


def test_queues_that_come_between_two_attempts_change_nothing(server: Server) -> None:
    server.create("SinkGrows", queues=3)
    task = WriteTask("grows", 1, 0)
    keys = [f"k{row % 17}" for row in range(200)]
    first = begun(server, "SinkGrows", task, requestBytes="1500")
    first.take(batch((str(row) for row in range(200)), orderingKey=keys))
    first.abandon()
    server.create("SinkGrows", queues=8)
    rows = batch((str(row) for row in range(200)), orderingKey=keys)
    write(server, "SinkGrows", [rows], task=task)
    assert all_values(server, "SinkGrows") == numbers(200)
    assert max(queue for _, queue in stored(server, "SinkGrows")) == 2
    later = WriteTask("grows", 2, 0)
    write(server, "SinkGrows", [rows], task=later)
    assert max(queue for _, queue in stored(server, "SinkGrows")) > 2


def test_rows_of_one_key_are_in_order_in_the_queue_that_clients_choose(server: Server) -> None:
    server.create("SinkKeys", queues=4)
    keys = [f"k{row % 5}" for row in range(100)]
    rows = batch((f"k{row % 5} {row}" for row in range(100)), orderingKey=keys)
    write(server, "SinkKeys", [rows], requestBytes="700")

    async def place_of(key: str) -> int:
        async with server.connect() as client:
            return (await client.send("SinkKeys", b"mine", order_by=key)).queue.queue_id

    chosen = {f"k{number}": asyncio.run(place_of(f"k{number}")) for number in range(5)}
    for (_, queue), values in stored(server, "SinkKeys").items():
        for key in chosen:
            own = [int(one.split()[1]) for one in values if one.split()[0] == key.encode()]
            assert own == sorted(own)
            assert not own or chosen[key] == queue


def test_rows_choose_their_topics_and_queues(server: Server) -> None:
    server.create("SinkQueue", queues=4)
    write(server, "SinkQueue", [batch(["a", "b", "c"], queue=[3, 0, 3])])
    assert stored(server, "SinkQueue") == {
        ("broker-a", 0): [b"b"],
        ("broker-a", 3): [b"a", b"c"],
    }
    rows = batch(["1", "2", "3", "4"], topic=["SinkOne", "SinkOther", None, "SinkOne"])
    write(server, "SinkRest", [rows])
    found = {name: all_values(server, name) for name in ("SinkOne", "SinkOther", "SinkRest")}
    assert found == {"SinkOne": [b"1", b"4"], "SinkOther": [b"2"], "SinkRest": [b"3"]}
    with pytest.raises(Misuse, match="a row without a topic"):
        write(server, "", [rows])


def test_rows_for_a_time_wait_and_are_stored_once(server: Server) -> None:
    past = datetime.now(UTC) - timedelta(hours=1)
    later = datetime.now(UTC) + timedelta(hours=1)
    rows = batch(["now", "at once", "later"], deliverAt=[None, past, later])
    for _ in range(2):
        write(server, "SinkTimed", [rows], task=WriteTask("timed", 0, 0))
    assert all_values(server, "SinkTimed") == [b"at once", b"now"]
    delayed = batch(["x", "y"], delay=[0, 3_600_000], key=["k", "l"], tags=["t", "u"])
    write(server, "SinkDelayed", [delayed])
    assert all_values(server, "SinkDelayed") == [b"x"]


def test_at_least_once_bears_no_marks(server: Server) -> None:
    for _ in range(2):
        write(server, "SinkLeast", numbered(1500, 600), deliveryGuarantee="atLeastOnce")
    found = stored(server, "SinkLeast", "value,properties")
    rows = [row for values in found.values() for row in values]
    assert len(rows) == 3000
    assert {row["properties"] for row in rows} == {""}


def test_a_row_that_cannot_be_sent_is_named(server: Server) -> None:
    with pytest.raises(Misuse, match="row 101 of a task, for SinkWrong, has no value"):
        write(server, "SinkWrong", [*numbered(100), batch(["a", None])])


def test_rows_of_a_write_that_is_finished_are_counted_and_not_sent(server: Server) -> None:
    task = WriteTask("through", 0, 0)
    written = write_partition(options_of(server, "SinkThrough"), task, numbered(50))
    ((topic, _),) = written.places
    assert topic == "SinkThrough"
    blocking = kept(options_of(server).target, 3.0)
    blocking.run(finish_write(blocking.session, "through", 0, written.places))
    for number in range(2):  # the same, and one that was not there before
        again = WriteTask("through", 0, number)
        assert write(server, "SinkThrough", numbered(80), task=again) == 80
    assert all_values(server, "SinkThrough") == numbers(50)
    write(server, "SinkThrough", numbered(10), task=WriteTask("through", 1, 0))
    assert len(all_values(server, "SinkThrough")) == 60


def test_an_attempt_that_goes_on_after_the_write_is_finished_stores_nothing(
    server: Server,
) -> None:
    task = WriteTask("late", 0, 0)
    late = begun(server, "SinkLate", task, requestBytes="1000")
    late.take(numbered(100)[0])
    late.abandon()
    before = len(all_values(server, "SinkLate"))
    blocking = kept(options_of(server).target, 3.0)
    blocking.run(finish_write(blocking.session, "late", 0, late.places()))
    late.take(batch(["one more"]))
    with pytest.raises(Succeeded):
        late.finish()
    late.abandon()
    assert len(all_values(server, "SinkLate")) == before


def test_more_tasks_and_queues_than_a_broker_remembers_are_written_and_done_again(
    server: Server,
) -> None:
    server.create("SinkWide", queues=500)
    for _ in range(2):
        for number in range(25):
            rows = [batch([f"{number} {row}" for row in range(3)], queue=[0, 250, 499])]
            assert write(server, "SinkWide", rows, task=WriteTask("wide", 3, number)) == 3
    found = all_values(server, "SinkWide")
    assert len(found) == len(set(found)) == 75
