from aerobee.errors import StoreBusy
from aerobee.ports.clock import Now
from aerobee.service.broker.pop.revive.revive_queues import COPIES_A_TICK, ReviveQueues
from tests.store_kit import StoreKit
from tests.unit.service.broker.pop.revive.test_revive_queue import RETRY, START, Rig


def revival_of(rig: Rig) -> ReviveQueues:
    return ReviveQueues(rig.kit.store, [rig.queue], lambda now: now.wall_ms)


def tick(rig: Rig, revival: ReviveQueues, wall_ms: int, monotonic_ms: int) -> None:
    rig.kit.settle()
    revival.on_tick(Now(wall_ms, monotonic_ms))
    rig.tables.finish()
    rig.kit.settle()


def test_a_tick_puts_back_a_bounded_number_and_the_next_one_the_rest() -> None:
    rig = Rig()
    rig.make_topic(RETRY.decode())
    for number in range(COPIES_A_TICK // 10 + 1):
        rig.pop(0, 10, pop_time=START + number)
    revival = revival_of(rig)
    tick(rig, revival, START + 20_000, 1)
    assert rig.retrying.revived == COPIES_A_TICK
    assert revival.rest_ms(Now(START + 20_000, 1)) == 0
    tick(rig, revival, START + 20_000, 2)
    assert rig.retrying.revived == 10 * (COPIES_A_TICK // 10 + 1)
    assert revival.rest_ms(Now(START + 20_000, 2)) > 0


def test_it_rests_until_something_is_due() -> None:
    rig = Rig()
    rig.pop(0, 1)
    revival = revival_of(rig)
    tick(rig, revival, START + 9_950, 1_000)
    assert revival.rest_ms(Now(START + 9_950, 1_000)) == 50


def test_what_the_store_refuses_is_tried_again() -> None:
    rig = Rig()
    rig.make_topic(RETRY.decode())
    rig.pop(0, 1)
    rig.kit.settle()
    revival = revival_of(rig)
    rig.kit.store.appender.refusal = StoreBusy("the disk is behind")
    revival.on_tick(Now(START + 10_000, 1))
    assert rig.retrying.revived == 0
    assert revival.rest_ms(Now(START + 10_000, 1)) > 0
    tick(rig, revival, START + 10_200, 201)
    assert rig.retrying.revived == 1


def test_after_the_end_nothing_is_put_back() -> None:
    rig = Rig()
    rig.make_topic(RETRY.decode())
    rig.pop(0, 1)
    revival = revival_of(rig)
    revival.stop(Now(START, 0))
    tick(rig, revival, START + 20_000, 1)
    assert rig.retrying.revived == 0


def test_without_a_revive_queue_there_is_nothing_to_do() -> None:
    kit = StoreKit()
    revival = ReviveQueues(kit.store, [], lambda now: now.wall_ms)
    revival.on_tick(kit.clock.now())
    assert revival.rest_ms(kit.clock.now()) > 0
