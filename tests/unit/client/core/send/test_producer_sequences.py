from dataclasses import replace

from aerobee.client.core.send.producer_sequences import ProducerSequences
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.message.producer_mark import ProducerMark, place_of

QUEUE = MessageQueue("t", "a", QueueId(1))


def test_numbers_go_on_where_the_broker_says_that_they_ended() -> None:
    sequences = ProducerSequences("P")
    assert not sequences.is_open("a", "t")
    sequences.opened("a", "t", 7, {1: 4})
    assert sequences.take(QUEUE) == ProducerMark("P", 7, 5, place_of("t", 1))
    assert sequences.take(QUEUE, 3).sequence == 6
    assert sequences.take(QUEUE).sequence == 9
    assert sequences.take(replace(QUEUE, queue_id=QueueId(0))).sequence == 0


def test_brokers_and_topics_are_opened_one_by_one() -> None:
    sequences = ProducerSequences("P")
    sequences.opened("a", "t", 7, {})
    assert not sequences.is_open("a", "u")
    assert not sequences.is_open("b", "t")
    assert (sequences.epoch("a"), sequences.epoch("b")) == (7, -1)


def test_a_broker_that_has_forgotten_is_asked_again_and_knows_nothing() -> None:
    sequences = ProducerSequences("P")
    other = replace(QUEUE, broker_name="b")
    for queue in (QUEUE, other):
        sequences.opened(queue.broker_name, "t", 7, {})
        sequences.take(queue)
        assert not sequences.is_known(queue)
        sequences.acknowledged(queue)
    sequences.forget("a")
    assert not sequences.is_open("a", "t")
    assert sequences.epoch("a") == -1
    assert (sequences.is_known(QUEUE), sequences.is_known(other)) == (False, True)
    assert sequences.is_open("b", "t")
