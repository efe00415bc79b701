from aerobee.protocol.message.producer_mark import ProducerMark
from aerobee.service.broker.deduplication.known_producers import (
    KnownProducer,
    KnownProducers,
    Limits,
)
from aerobee.service.broker.deduplication.seen_sequences import SeenSequences, StoredPlace

PLACE = StoredPlace(3, 4)


def mark(producer: str = "P", epoch: int = 1, sequence: int = 0) -> ProducerMark:
    return ProducerMark(producer, epoch, sequence, "00000000")


def test_a_producer_has_sequences_by_queue() -> None:
    known = KnownProducers()
    known.note(mark(sequence=7), "Orders", 1, PLACE, 100)
    known.note(mark(sequence=9), "Orders", 2, PLACE, 100)
    known.note(mark(sequence=2), "Other", 1, PLACE, 100)
    assert known.last_sequences("P", "Orders") == {1: 7, 2: 9}
    assert known.last_sequences("Q", "Orders") == {}
    assert known.find("P", "Orders", 3) is None


def test_an_epoch_only_rises() -> None:
    known = KnownProducers()
    assert known.epoch_of("P") == -1
    known.note(mark(epoch=5), "Orders", 1, PLACE, 100)
    known.raise_epoch("P", 3, 100)
    assert known.epoch_of("P") == 5
    known.raise_epoch("P", 8, 100)
    assert known.epoch_of("P") == 8


def test_what_is_known_stays_where_it_was() -> None:
    known = KnownProducers()
    known.note(mark(), "Orders", 1, PLACE, 100)
    known.note(mark(epoch=2), "Orders", 1, StoredPlace(9, 9), 100)
    seen = known.find("P", "Orders", 1)
    assert seen is not None
    assert seen.place(0) == PLACE


def test_who_sent_longest_ago_is_forgotten_first() -> None:
    known = KnownProducers(Limits(producers=2))
    for producer in ("A", "B", "A", "C"):
        known.note(mark(producer), "Orders", 1, PLACE, 100)
    assert [name for name, _ in known.all()] == ["A", "C"]


def test_queues_are_counted_over_all_producers() -> None:
    known = KnownProducers(Limits(queues=3))
    for producer, queue in (("A", 0), ("A", 1), ("B", 0), ("B", 1)):
        known.note(mark(producer), "Orders", queue, PLACE, 100)
    assert [name for name, _ in known.all()] == ["B"]
    known.forget_topic("Orders")
    for queue in range(3):
        known.note(mark("C"), "Orders", queue, PLACE, 100)
    assert [name for name, _ in known.all()] == ["B", "C"]


def test_who_alone_has_too_many_queues_is_not_forgotten() -> None:
    known = KnownProducers(Limits(queues=1))
    for queue in range(3):
        known.note(mark(), "Orders", queue, PLACE, 100)
    assert len(known.last_sequences("P", "Orders")) == 3


def test_who_was_idle_for_long_is_forgotten() -> None:
    known = KnownProducers(Limits(idle_ms=1000))
    known.note(mark("A"), "Orders", 1, PLACE, 100)
    known.note(mark("B"), "Orders", 1, PLACE, 600)
    known.forget_idle(1099)
    assert len(known) == 2
    known.forget_idle(1100)
    assert [name for name, _ in known.all()] == ["B"]


def test_a_deleted_topic_is_forgotten_and_that_is_a_change() -> None:
    known = KnownProducers()
    known.note(mark(), "Orders", 1, PLACE, 100)
    before = known.changes
    known.forget_topic("Orders")
    assert known.last_sequences("P", "Orders") == {}
    assert known.changes > before


def test_what_the_file_had_is_no_change() -> None:
    known = KnownProducers()
    producer = KnownProducer(4, 100)
    producer.queues["Orders", 1] = SeenSequences.restored(0, [0, 5], [])
    known.restore("P", producer)
    assert (known.epoch_of("P"), known.last_sequences("P", "Orders")) == (4, {1: 4})
    assert known.changes == 0


def test_a_round_that_begins_forgets_what_the_one_before_sent() -> None:
    known = KnownProducers()
    first = known.begin_round("P", 3, 100)
    first.plans["Orders"] = "a plan"
    known.note_run(mark(sequence=3 << 32), 5, "Orders", 1, 100)
    known.note_run(mark(sequence=3 << 32), 5, "Orders", 2, 100)
    assert known.begin_round("P", 3, 100).plans == {"Orders": "a plan"}
    assert known.last_sequences("P", "Orders") == {1: (3 << 32) + 4, 2: (3 << 32) + 4}
    known.note_run(mark(sequence=4 << 32), 1, "Orders", 2, 100)
    again = known.begin_round("P", 4, 100)
    assert (again.plans, again.round_id) == ({}, 4)
    assert known.last_sequences("P", "Orders") == {2: 4 << 32}
    assert known.begin_round("P", 2, 100).round_id == 4


def test_queues_of_an_old_round_do_not_count_for_the_limit() -> None:
    known = KnownProducers(Limits(queues=3))
    known.note(mark("Q"), "Orders", 0, PLACE, 100)
    for round_id in range(5):
        known.begin_round("P", round_id, 100)
        known.note_run(mark(sequence=round_id << 32), 1, "Orders", 2 * round_id, 100)
        known.note_run(mark(sequence=round_id << 32), 1, "Orders", 2 * round_id + 1, 100)
    assert known.find("Q", "Orders", 0) is not None


def in_round(known: KnownProducers, producer: str, queues: int, round_id: int = 1) -> None:
    """Opens a round and sends to some queues of Orders."""
    known.begin_round(producer, round_id, 100)
    known.reserve(producer, "Orders", queues)
    for queue in range(queues):
        known.note_run(mark(producer, sequence=round_id << 32), 1, "Orders", queue, 100)


def test_those_who_work_on_a_round_together_do_not_push_each_other_out() -> None:
    known = KnownProducers(Limits(queues=4))
    known.note(mark("Q"), "Orders", 0, PLACE, 100)
    in_round(known, "query/0", 2)
    in_round(known, "query/1", 2)
    assert [name for name, _ in known.all()] == ["query/0", "query/1"]
    assert known.has_room("query/1", 1, "Orders", 2)
    assert not known.has_room("query/1", 1, "Orders", 3)
    assert not known.has_room("query/1", 1, "Other", 1)
    assert not known.has_room("query/2", 1, "Orders", 1)
    assert known.has_room("another/0", 1, "Orders", 4)
    in_round(known, "another/0", 1)
    assert [name for name, _ in known.all()] == ["query/1", "another/0"]


def test_whoever_begins_a_round_gives_back_what_was_reserved_for_the_last() -> None:
    known = KnownProducers(Limits(queues=4))
    in_round(known, "query/0", 3)
    assert not known.has_room("query/0", 1, "Other", 4)
    assert known.has_room("query/0", 2, "Other", 4)
    known.begin_round("query/0", 2, 100)
    known.reserve("query/0", "Other", 1)
    known.reserve("query/0", "Other", 1)
    assert known.has_room("query/1", 2, "Orders", 3)
    assert not known.has_room("query/1", 2, "Orders", 4)


def test_a_round_has_room_for_so_many_tasks() -> None:
    known = KnownProducers(Limits(producers=2, queues=5))
    in_round(known, "query/0", 3)
    in_round(known, "query/1", 1)
    assert known.has_room("query/1", 2, "Orders", 1)
    assert not known.has_room("query/2", 1, "Orders", 1)
    known.begin_round("query/1", 1, 200)
    known.forget_idle(100 + known.limits.idle_ms)
    assert len(known) == 1
    assert known.has_room("query/2", 1, "Orders", 4)


def test_who_is_said_to_work_in_rounds_is_of_a_family_before_its_round_is_known() -> None:
    known = KnownProducers(Limits(queues=2))
    known.expect_rounds(["query/0", "query/1"])
    for producer, queue in (("query/0", 0), ("Q", 0), ("query/1", 0)):
        known.note(mark(producer), "Orders", queue, PLACE, 100)
    assert [name for name, _ in known.all()] == ["query/0", "query/1"]


def test_what_is_finished_is_let_go_and_its_senders_are_refused() -> None:
    known = KnownProducers(Limits(queues=8))
    for task in range(2):
        in_round(known, f"query/{task}", 3)
        known.raise_epoch(f"query/{task}", (1 << 20) + task, 100)
    assert not known.has_room("query/2", 1, "Orders", 3)
    assert known.finish_task("query/1", "Orders", 100) == (1 << 20) + 2
    assert known.epoch_of("query/1") == (1 << 20) + 2
    assert known.last_sequences("query/1", "Orders") != {}  # until it is on the disk
    before = known.changes
    known.let_go(["query/1", "nobody"])
    assert [name for name, _ in known.all()] == ["query/0"]
    assert known.changes > before
    assert known.has_room("query/2", 1, "Orders", 3)
    assert known.epoch_of("query/1") == (1 << 20) + 2
    assert known.epoch_of("query/0") == 1 << 20


def test_of_a_task_with_several_topics_those_that_are_finished_are_let_go() -> None:
    known = KnownProducers(Limits(queues=4))
    in_round(known, "query/0", 2)
    producer = known.begin_round("query/0", 1, 100)
    producer.plans.update({"Orders": "plan", "Other": "plan"})
    known.reserve("query/0", "Other", 1)
    known.note_run(mark("query/0", sequence=1 << 32), 1, "Other", 0, 100)
    known.finish_task("query/0", "Orders", 100)
    known.let_go(["query/0"])
    assert (producer.plans, producer.reserved) == ({"Other": "plan"}, {"Other": 1})
    assert list(producer.queues) == [("Other", 0)]
    assert known.has_room("query/1", 1, "Orders", 3)
    assert not known.has_room("query/1", 1, "Orders", 4)
    in_round(known, "another/0", 3)
    assert known.find("query/0", "Other", 0) is not None  # four queues: nobody had to go


def test_a_write_that_is_finished_ends_its_tasks_and_no_others() -> None:
    known = KnownProducers()
    for task in range(3):
        in_round(known, f"query/{task}", 2, round_id=4)
        known.raise_epoch(f"query/{task}", (4 << 20) + task, 100)
    in_round(known, "query/7", 2, round_id=3)
    in_round(known, "query/8", 2, round_id=5)
    in_round(known, "query/t0", 2, round_id=4)
    in_round(known, "another/0", 2, round_id=4)
    known.note(mark("query/x"), "Orders", 0, PLACE, 100)
    known.finish_write("query", "Orders", 4, 100)
    known.let_go([name for name, _ in known.all()])
    left = ["query/8", "query/t0", "another/0", "query/x"]
    assert [name for name, _ in known.all()] == left
    assert {known.epoch_of(f"query/{task}") for task in (0, 1, 2, 7, 99)} == {(4 << 20) + 3}


def test_a_round_that_has_begun_meanwhile_is_not_let_go() -> None:
    known = KnownProducers()
    in_round(known, "query/0", 2, round_id=4)
    known.finish_write("query", "Orders", 4, 100)
    in_round(known, "query/0", 2, round_id=5)
    known.let_go(["query/0"])
    assert known.last_sequences("query/0", "Orders") == {0: 5 << 32, 1: 5 << 32}


def test_rounds_that_are_known_to_be_over_are_let_go_whatever_they_hold() -> None:
    known = KnownProducers(Limits(queues=8))
    for producer, round_id in (("query/t0", 4), ("query/t1", 5), ("query/t2", 4)):
        in_round(known, producer, 2, round_id=round_id)
    known.note(mark("Q"), "Orders", 0, PLACE, 100)
    known.let_go(["query/t0", "query/t1", "Q", "nobody"], 4)
    assert [name for name, _ in known.all()] == ["query/t1", "query/t2", "Q"]
    assert known.has_room("query/t0", 5, "Orders", 4)
    assert not known.has_room("query/t0", 5, "Orders", 5)


def test_what_the_file_had_of_finished_rounds_is_passed_over() -> None:
    known = KnownProducers()
    known.finished.add_write("query", "Orders", 4, (4 << 20) + 9, 100)
    for name, epoch in (("query/0", 4 << 20), ("query/1", 5 << 20), ("query/t0", 4 << 20)):
        producer = KnownProducer(epoch, 100)
        for topic, round_id in (("Orders", 4), ("Other", 4), ("Old", 3), ("New", 5)):
            if (name, topic) != ("query/0", "Other") and (topic != "New" or name == "query/1"):
                start = round_id << 32
                producer.queues[topic, 1] = SeenSequences.restored(0, [start, start + 5], [])
        known.restore(name, producer)
    found = {name: [topic for topic, _ in one.queues] for name, one in known.all()}
    assert found == {"query/1": ["Other", "New"], "query/t0": ["Orders", "Other", "Old"]}


def test_a_family_with_many_queues_is_crowded() -> None:
    known = KnownProducers(Limits(queues=8))
    in_round(known, "query/0", 2)
    assert not known.is_crowded("query/0")
    in_round(known, "query/1", 1)
    assert known.is_crowded("query/0")
    assert not known.is_crowded("another/0")


def test_room_may_come_if_one_alone_does_not_need_more_than_there_is() -> None:
    known = KnownProducers(Limits(producers=2, queues=4))
    assert known.may_get_room("query/0", 1, 4)
    assert not known.may_get_room("query/0", 1, 5)
    in_round(known, "query/0", 3)
    in_round(known, "query/1", 1)
    assert known.may_get_room("query/0", 1, 1)
    assert not known.may_get_room("query/0", 1, 2)
    assert known.may_get_room("query/0", 2, 4)
    assert not known.may_get_room("query/2", 1, 1)  # tasks do not become fewer


def test_a_deleted_topic_is_not_finished_either() -> None:
    known = KnownProducers()
    known.finish_write("query", "Orders", 4, 100)
    assert known.forget_topic("Orders") == ["query"]
    assert not known.finished.covers("query/0", "Orders", 4)


def test_who_was_finished_for_long_is_forgotten() -> None:
    known = KnownProducers(Limits(idle_ms=1000))
    known.finish_write("query", "Orders", 4, 100)
    known.forget_idle(1099)
    assert len(known.finished) == 1
    known.forget_idle(1100)
    assert len(known.finished) == 0
