from aerobee.service.access.request_rights import RIGHTS
from tests.rows_rig import RowsRig, by_code


def test_tools_are_served() -> None:
    wanted = {12, 17, 21, 33, 200, 201, 202, 207, 208, 215, 222, 223, 225, 300, 303}
    wanted |= {305, 307, 309, 314, 317, 343, 345, 351, 352}
    assert by_code(RowsRig().admin) >= wanted


def test_tools_need_a_right() -> None:
    rig = RowsRig()
    assert by_code([*rig.admin, *rig.status]) <= set(RIGHTS)


def test_no_request_is_served_twice_and_none_that_is_a_send_or_a_pull() -> None:
    rig = RowsRig()
    codes = by_code([*rig.consumer, *rig.admin, *rig.status])
    assert codes.isdisjoint({10, 310, 320, 324, 325, 36, 11, 361})
