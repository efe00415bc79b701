import pytest

from aerobee.errors import DiskFailed
from aerobee.model.topic import TopicConfig
from aerobee.service.broker.config import BrokerConfig
from tests.broker_kit import CLIENT, OTHER, STORAGE, SYNC, BrokerKit, commands_in
from tests.send_rig import send_frame

ORDERS = TopicConfig("Orders", 4, 4)


def sync_kit(config: BrokerConfig | None = None) -> BrokerKit:
    kit = BrokerKit(ORDERS, storage=SYNC, config=config)
    kit.finish()
    kit.pieces()
    return kit


def codes(pieces: list[bytes]) -> list[list[int]]:
    """The codes of the answers in each piece."""
    return [[command.code for command in commands_in(piece)] for piece in pieces]


def log_syncs(kit: BrokerKit) -> list[str]:
    calls = kit.disk.faults.calls
    return [call.path for call in calls if call.name == "sync" and "commitlog" in call.path]


def test_without_synchronous_flush_the_answers_of_a_read_go_out_with_it_at_once() -> None:
    kit = BrokerKit(ORDERS, storage=STORAGE)
    kit.pieces()
    kit.send_frames(send_frame() * 3)
    assert codes(kit.pieces()) == [[0, 0, 0]]
    assert kit.store.flushed_offset < kit.store.end_offset


def test_answers_wait_for_the_sync_and_those_of_a_read_are_written_at_once() -> None:
    kit = sync_kit()
    kit.send_frames(send_frame() * 3)
    kit.send_frames(send_frame() * 2)
    kit.send_frames(send_frame(), OTHER)
    kit.tick(1)
    assert kit.pieces() == kit.pieces(OTHER) == []
    kit.work()
    assert kit.pieces() == [], "the broker has not looked yet"
    kit.finish()
    assert codes(kit.pieces()) == [[0, 0, 0], [0, 0]]
    assert codes(kit.pieces(OTHER)) == [[0]]


def test_a_sync_begins_when_a_read_is_over_and_what_comes_meanwhile_shares_the_next() -> None:
    kit = sync_kit()
    before = len(log_syncs(kit))
    kit.send_frames(send_frame(body=b"0"))
    assert kit.worker.pending() >= 1, "no tick was needed"
    for number in range(1, 6):
        kit.send_frames(send_frame(body=b"%d" % number))
    kit.work()
    kit.tick()
    assert codes(kit.pieces()) == [[0]]
    kit.work()
    kit.tick()
    assert codes(kit.pieces()) == [[0]] * 5
    assert len(log_syncs(kit)) - before == 2


def test_what_was_answered_survives_a_power_cut() -> None:
    kit = sync_kit()
    kit.send_frames(send_frame(body=b"answered"))
    kit.finish()
    kit.send_frames(send_frame(body=b"waiting"))
    assert codes(kit.pieces()) == [[0]]
    assert kit.power_cut().bodies(queue_id=1) == [b"answered"]


def test_what_waits_too_long_is_said_to_be_stored_and_not_known_to_be_safe() -> None:
    kit = sync_kit(BrokerConfig(sync_timeout_ms=800))
    kit.send_frames(send_frame() * 2)
    kit.tick(799)
    assert kit.pieces() == []
    kit.tick(1)
    (piece,) = kit.pieces()
    first, second = commands_in(piece)
    assert (first.code, second.code) == (10, 10)
    assert first.ext_fields["queueOffset"] == "0"
    assert second.ext_fields["msgId"]
    kit.finish()
    assert kit.pieces() == [], "nobody is answered twice"
    assert len(kit.bodies(queue_id=1)) == 2


def test_a_failed_sync_answers_nobody_closes_their_connections_and_ends_the_broker() -> None:
    kit = sync_kit()
    kit.disk.faults.fail_sync("*commitlog*")
    kit.send_frames(send_frame())
    kit.send_frames(send_frame(), OTHER)
    kit.work()
    kit.tick(1)
    assert kit.pieces() == kit.pieces(OTHER) == []
    assert sorted(kit.closed) == [CLIENT, OTHER]
    assert kit.broker.rest_ms(kit.clock.now()) == 0
    with pytest.raises(DiskFailed):
        kit.tick(1)
    assert kit.bodies(queue_id=1) == []


def test_after_a_failure_further_sends_are_refused() -> None:
    kit = sync_kit()
    kit.disk.faults.fail_sync("*commitlog*")
    kit.send_frames(send_frame())
    kit.work()
    kit.tick(1)
    kit.send_frames(send_frame(), OTHER)
    assert codes(kit.pieces(OTHER)) == [[14]]


def test_without_synchronous_flush_a_failed_sync_ends_the_broker_too() -> None:
    kit = BrokerKit(ORDERS)
    kit.finish()
    kit.disk.faults.fail_sync("*commitlog*")
    kit.send_frames(send_frame())
    assert codes(kit.pieces())[-1] == [0]
    with pytest.raises(DiskFailed):
        kit.run(2_000)


def test_a_broker_with_something_on_its_way_to_the_disk_does_not_rest() -> None:
    kit = sync_kit()
    assert kit.broker.rest_ms(kit.clock.now()) > 0
    kit.send_frames(send_frame())
    assert kit.broker.rest_ms(kit.clock.now()) == 0
    kit.finish()
    assert kit.broker.rest_ms(kit.clock.now()) > 0


def test_a_one_way_send_leaves_nothing_to_wait_for() -> None:
    kit = sync_kit()
    kit.send_frames(send_frame(flag=2))
    kit.finish()
    assert kit.pieces() == []
    assert len(kit.bodies(queue_id=1)) == 1


def test_the_answers_of_a_connection_that_closed_go_nowhere() -> None:
    kit = sync_kit()
    kit.send_frames(send_frame())
    kit.close(CLIENT)
    kit.send_frames(send_frame(), OTHER)
    kit.finish()
    assert codes(kit.pieces(OTHER)) == [[0]]


def test_answers_of_a_read_that_ends_in_nonsense_go_to_nobody_else() -> None:
    kit = sync_kit()
    kit.send_frames(send_frame(opaque=1) + b"\xff" * 100)
    assert kit.closed == [CLIENT]
    kit.send_frames(send_frame(opaque=2), OTHER)
    kit.finish()
    assert [command.opaque for command in kit.heard(OTHER)] == [2]
    assert [command.opaque for command in kit.heard(CLIENT)] == [1]


def test_sends_that_wait_for_the_disk_are_told() -> None:
    kit = sync_kit()
    kit.send_frames(send_frame({"e": "0"}) * 3)
    shown = {
        sample.labels["processor"]: sample.value
        for metric in kit.broker.watch.metrics(kit.clock.now())
        for sample in metric.samples
        if metric.name == "rocketmq_processor_watermark"
    }
    assert shown == {"send": 3, "pull": 0}
    kit.finish()
    assert len(kit.heard()) == 3
