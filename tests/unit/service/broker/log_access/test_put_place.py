from dataclasses import replace

import pytest

from aerobee.service.broker.log_access.put_place import LocalLog
from aerobee.storage.config import FlushMode
from tests.store_kit import SMALL, StoreKit, draft


@pytest.mark.parametrize("mode", list(FlushMode))
def test_a_put_into_the_own_log_is_lasting_when_the_disk_has_it(mode: FlushMode) -> None:
    kit = StoreKit(config=replace(SMALL, flush_mode=mode))
    place = LocalLog(kit.store)
    told: list[bool] = []
    place.appender.append(draft(), kit.clock.now().wall_ms)
    end = place.end_offset
    assert end == kit.store.end_offset > place.lasting_offset
    place.when_safe(end, told.append)
    assert told == ([] if mode is FlushMode.SYNC else [True])
    kit.settle()
    assert place.lasting_offset <= end
    assert place.is_own
