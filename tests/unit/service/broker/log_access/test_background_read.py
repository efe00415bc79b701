from aerobee.errors import CorruptRecord
from aerobee.ports.disk_worker import Lane
from aerobee.service.broker.log_access.background_read import BackgroundRead
from tests.store_kit import StoreKit, draft


def test_a_fetch_is_over_when_the_disk_was_asked_and_says_what_came_of_it() -> None:
    kit = StoreKit()
    message = draft()
    kit.append(message)
    kit.store.dispatch()
    read = kit.store.read(message.topic, message.queue_id, 0, 1, 1)
    good, bad = BackgroundRead(kit.store, read, 0), BackgroundRead(kit.store, read, 1)
    kit.worker.submit(Lane.BACKGROUND, good)
    assert not good.is_over
    kit.worker.run_all()
    kit.worker.collect()
    assert (good.is_over, good.error, good.place) == (True, None, 0)
    read.slices[0][60] ^= 0xFF  # somewhere in the record
    kit.worker.submit(Lane.BACKGROUND, bad)
    kit.worker.run_all()
    kit.worker.collect()
    assert bad.is_over
    assert isinstance(bad.error, CorruptRecord)
