from aerobee.client.core.send.producer_batches import Batch, ProducerBatches


def items(batches: list[Batch[str]]) -> list[list[str]]:
    return [batch.items for batch in batches]


def test_a_batch_leaves_when_it_has_as_many_messages_as_it_may() -> None:
    gathering: ProducerBatches[str] = ProducerBatches(1.0, 2, 100)
    assert gathering.add(None, "a", 1, 0.0) == []
    assert items(gathering.add(None, "b", 1, 0.0)) == [["a", "b"]]
    assert gathering.next_due() is None


def test_a_message_that_does_not_fit_any_more_begins_the_next_batch() -> None:
    gathering: ProducerBatches[str] = ProducerBatches(1.0, 10, 100)
    gathering.add(None, "a", 60, 0.0)
    assert items(gathering.add(None, "b", 60, 0.5)) == [["a"]]
    assert gathering.next_due() == 1.5


def test_a_message_too_large_for_any_batch_leaves_alone_after_those_before_it() -> None:
    gathering: ProducerBatches[str] = ProducerBatches(1.0, 10, 100)
    gathering.add(None, "a", 60, 0.0)
    assert items(gathering.add(None, "b", 500, 0.0)) == [["a"], ["b"]]


def test_a_batch_leaves_when_its_linger_is_over_counted_from_its_first_message() -> None:
    gathering: ProducerBatches[str] = ProducerBatches(1.0, 10, 100)
    gathering.add(None, "a", 1, 0.0)
    gathering.add(None, "b", 1, 0.9)
    gathering.add("other", "c", 1, 0.9)
    assert gathering.next_due() == 1.0
    assert gathering.take_due(0.99) == []
    assert items(gathering.take_due(1.0)) == [["a", "b"]]
    assert gathering.next_due() == 1.9


def test_places_do_not_mix_and_all_can_be_had_at_once() -> None:
    gathering: ProducerBatches[str] = ProducerBatches(1.0, 10, 100)
    gathering.add("x", "a", 1, 0.0)
    gathering.add("y", "b", 1, 0.0)
    taken = gathering.take_all()
    assert [(batch.place, batch.items, batch.size) for batch in taken] == [
        ("x", ["a"], 1),
        ("y", ["b"], 1),
    ]
    assert gathering.take_all() == []
