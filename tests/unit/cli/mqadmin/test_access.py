from pathlib import Path

import pytest

from aerobee.cli.mqadmin.access import COMMANDS
from tests.mqadmin_kit import Fails, Place, Works
from tests.user_keeper import UserKeeper

RULE = "-s User:ann -r Topic:orders,Group:billing -a Pub,Sub -d Allow"
WORKS = (
    Works("createUser -b {address} -u ann -p secret12", (r"^create user to 127\S+ success\.$",)),
    Works("updateUser -b {address} -u ann -s disable", (r"^update user to 127\S+ success\.$",)),
    Works(
        "getUser -b {address} -u ann",
        ("^#UserName +#Password +#UserType +#UserStatus", r"^ann +\*{6} +Normal +disable *$"),
    ),
    Works("updateUser -b {address} -u ann -t Super -s enable", ("success",)),
    Works("listUser -b {address}", (r"^ann +\*{6} +Super +enable *$",)),
    Works(
        "copyUser -f {address} -t {address} -u ann", (r"^copy user of ann from \S+ to \S+ success",)
    ),
    Works(f"createAcl -b {{address}} {RULE}", (r"^create acl to 127\S+ success\.$",)),
    Works(
        "getAcl -b {address} -s User:ann",
        (
            "^#Subject +#PolicyType +#Resource +#Actions +#SourceIp +#Decision",
            r"^User:ann +Custom +Topic:orders +\[Pub, Sub\] +null +Allow",
            r"^User:ann +Custom +Group:billing ",
        ),
    ),
    Works(
        "updateAcl -b {address} -s User:ann -r Topic:orders -a Pub -d Deny -i 10.0.0.1,10.0.0.2",
        (r"^update acl to 127\S+ success\.$",),
    ),
    Works(
        "listAcl -b {address}",
        (r"^User:ann +Custom +Topic:orders +\[Pub\] +\[10.0.0.1, 10.0.0.2\] +Deny",),
    ),
    Works("copyAcl -f {address} -t {address}", (r"^copy acl of User:ann from \S+ to \S+ success",)),
    Works("deleteAcl -b {address} -s User:ann", (r"^delete acl to 127\S+ success\.$",)),
    Works("deleteUser -b {address} -u ann", (r"^delete user to 127\S+ success\.$",)),
)
GONE = (
    Fails("getUser -b {address} -u ann", "has no user 'ann'", status=3),
    Fails("updateUser -b {address} -u ann -s enable", "has no user 'ann'", status=3),
    Fails("updateUser -b {address} -u ann", "--password or --userType or --userStatus is needed"),
    Fails("getAcl -b {address} -s User:ann", "has no rules for 'User:ann'", status=3),
)
FLAGS = {
    "createUser": "-u ann -p secret12",
    "updateUser": "-u ann -s enable",
    "deleteUser": "-u ann",
    "getUser": "-u ann",
    "listUser": "",
    "createAcl": RULE,
    "updateAcl": RULE,
    "deleteAcl": "-s User:ann",
    "getAcl": "-s User:ann",
    "listAcl": "",
}


def test_users_and_rights_are_kept_shown_and_deleted_where_a_broker_has_them(
    tmp_path: Path,
) -> None:
    with UserKeeper().running() as keeper:
        place = Place(keeper.address, keeper.address, tmp_path)
        for case in WORKS:
            place.see(case)
        assert not keeper.users
        for failure in GONE:
            place.see_refused(failure)


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_a_broker_that_asks_nobody_who_it_is_says_so(place: Place, name: str) -> None:
    flags = f"-b {{address}} {FLAGS[name]}" if name in FLAGS else "-f {address} -t {address}"
    place.see_refused(Fails(f"{name} {flags}", "authentication is not enabled"))


def test_a_password_is_never_shown(tmp_path: Path) -> None:
    with UserKeeper().running() as keeper:
        place = Place(keeper.address, keeper.address, tmp_path)
        place.see(Works("createUser -b {address} -u ann -p secret12", ("success",)))
        assert "secret12" not in place.run("getUser -b {address} -u ann").out
        assert "secret12" not in place.run("listUser -b {address}").out
        assert b"secret12" in keeper.users["ann"]
