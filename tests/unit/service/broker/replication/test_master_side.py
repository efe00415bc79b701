"""MasterSide: acknowledgements of slaves decide what is answered, read and taken."""

import pytest

from aerobee.model.replica_status import MasterStatus
from aerobee.model.topic import TopicConfig
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.replication.master_side import MasterSide
from aerobee.storage.config import FlushMode
from tests.pair_kit import SLAVE_TIMEOUT_MS, Pair
from tests.wire import JAVA_FIELDS

TOPIC = TopicConfig(JAVA_FIELDS["b"], 8, 8)


def synchronous(flush: FlushMode = FlushMode.ASYNC) -> Pair:
    """A master that waits for one slave, which follows."""
    pair = Pair(TOPIC, in_sync=2, flush=flush)
    pair.run(200)
    return pair


def readable(pair: Pair) -> int:
    return sum(
        len(pair.master.messages(TOPIC.name, queue_id)) for queue_id in range(TOPIC.read_queues)
    )


def test_an_asynchronous_master_answers_at_once_and_the_slave_gets_everything() -> None:
    pair = Pair(TOPIC)
    pair.run()
    pair.send()
    assert pair.answers() == [0]
    pair.run()
    assert pair.slave.store.end_offset == pair.master.store.end_offset > 0


@pytest.mark.parametrize("flush", list(FlushMode))
def test_a_send_is_answered_and_readable_when_the_slave_has_it(flush: FlushMode) -> None:
    pair = synchronous(flush)
    pair.send()
    pair.master.work()
    pair.master.tick()
    assert (pair.answers(), readable(pair)) == ([], 0)
    pair.run(20)
    assert (pair.answers(), readable(pair)) == ([0], 1)
    assert pair.slave.store.end_offset == pair.master.store.end_offset


def test_without_enough_slaves_a_send_is_refused_before_anything_is_appended() -> None:
    pair = Pair(TOPIC, in_sync=2)
    end = pair.master.store.end_offset
    pair.send()
    (answer,) = pair.master.heard()
    assert answer.code == ResponseCode.SERVICE_NOT_AVAILABLE
    assert answer.remark.startswith("in-sync replicas not enough: 2 are needed and 1 in sync")
    assert pair.master.store.end_offset == end
    pair.run(200)
    pair.send()
    pair.run(20)
    assert pair.answers() == [0]


def test_a_slave_that_goes_ends_the_sends() -> None:
    pair = synchronous()
    pair.drop_link()
    pair.send()
    assert pair.answers() == [ResponseCode.SERVICE_NOT_AVAILABLE]


def test_a_slave_that_says_nothing_makes_the_answer_late_and_nothing_readable() -> None:
    pair = synchronous()
    pair.is_cut = True
    pair.send()
    pair.run(SLAVE_TIMEOUT_MS - 20)
    assert pair.answers() == []
    pair.run(40)
    assert pair.answers() == [ResponseCode.FLUSH_SLAVE_TIMEOUT]
    assert readable(pair) == 0


def test_a_send_whose_slave_is_lost_says_that_none_is_available() -> None:
    pair = synchronous()
    pair.is_cut = True
    pair.send()
    pair.drop_link()
    pair.run(SLAVE_TIMEOUT_MS + 20)
    assert pair.answers() == [ResponseCode.SLAVE_NOT_AVAILABLE]


def test_a_late_send_is_readable_once_the_slave_is_back() -> None:
    pair = synchronous()
    pair.is_cut = True
    pair.send()
    pair.drop_link()
    pair.run(SLAVE_TIMEOUT_MS + 20)
    assert readable(pair) == 0
    pair.is_cut = False
    pair.run(6_000)
    assert readable(pair) == 1
    assert pair.slave.store.end_offset == pair.master.store.end_offset


def test_the_status_names_every_slave_and_its_lag() -> None:
    pair = synchronous()
    side = pair.master.broker._duties.links
    assert isinstance(side, MasterSide)
    status = side.status(pair.master.clock.now())
    assert isinstance(status, MasterStatus)
    assert (status.copies_wanted, status.in_sync) == (2, 1)
    (lag,) = status.replicas
    assert (lag.address, lag.lag_bytes, lag.is_in_sync) == ("10.0.0.2:4", 0, True)
    pair.is_cut = True
    pair.send()
    (lag,) = side.status(pair.master.clock.now()).replicas
    assert lag.lag_bytes == pair.master.store.end_offset - lag.ack_offset > 0
