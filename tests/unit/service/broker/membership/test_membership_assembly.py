from aerobee.service.broker.request_table import Lane
from tests.rows_rig import RowsRig, by_code


def test_consumers_are_served() -> None:
    codes = by_code(RowsRig().consumer)
    assert codes >= {14, 15, 29, 30, 31, 32, 34, 35, 38, 41, 42, 46, 203, 328}


def test_what_clients_say_of_themselves_is_never_held_back() -> None:
    lanes = {int(row.code): row.lane for row in RowsRig().consumer}
    assert lanes[34] is lanes[15] is lanes[41] is Lane.CLIENT
