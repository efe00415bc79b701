from aerobee.service.broker.admin.broker.store_admin_assembly import store_rows
from aerobee.service.broker.request_table import Lane
from tests.rows_rig import RowsRig, by_code


def test_the_inside_of_a_broker_is_shown_and_cleaned() -> None:
    rig = RowsRig()
    rows = store_rows(*rig.inside)
    assert by_code(rows) >= {306, 315, 316, 321, 329, 2003, 200074}
    assert {row.lane for row in rows} == {Lane.ADMIN}
