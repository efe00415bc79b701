from aerobee.service.broker.admin.broker.store_admin_assembly import store_rows
from aerobee.service.broker.request_table import Lane, Right
from tests.rows_rig import RowsRig, by_code


def test_the_inside_of_a_broker_is_shown_and_cleaned() -> None:
    rig = RowsRig()
    rows = store_rows(*rig.inside)
    assert by_code(rows) >= {306, 315, 316, 321, 329, 513, 2003, 3001, 3010, 200074}
    assert {(row.lane, row.right) for row in rows} == {(Lane.ADMIN, Right.ADMINISTER)}
