from aerobee.ports.clock import Now
from aerobee.service.broker.admin.broker.broker_status import BrokerStatus
from tests.rows_rig import RowsRig, by_code


def test_status_is_served() -> None:
    assert by_code(RowsRig().status) == {25, 26, 28, 45}


def test_what_passes_is_looked_at_once_a_second() -> None:
    looks = []

    def count() -> int:
        looks.append(1)
        return 0

    status = BrokerStatus(count, count, *RowsRig().watched, Now(0, 0))
    before = len(looks)
    status.on_tick(Now(999, 999))
    assert len(looks) == before
    status.on_tick(Now(1000, 1000))
    assert len(looks) == before + 2
