from tests.mqadmin_kit import Fails, Place, Works

WORKS = (
    Works(
        "updateKvConfig -s Space -k key -v value",
        ("^create or update kv config to namespace success",),
    ),
    Works("deleteKvConfig -s Space -k key", ("^delete kv config from namespace success",)),
    Works(
        "getNamesrvConfig",
        (r"^============127\.0\.0\.1:\d+============$", "^orderMessageEnable +=  "),
    ),
    Works(
        "updateNamesrvConfig -k orderMessageEnable -v false",
        (
            r"^update name server config success!\[127\.0\.0\.1:\d+\]$",
            "^orderMessageEnable : false$",
        ),
    ),
    Works(
        "wipeWritePerm -b broker-a",
        (r"^wipe write perm of broker\[broker-a\] in name server\[.*\] OK, [1-9]",),
    ),
    Works(
        "addWritePerm -b broker-a",
        (r"^add write perm of broker\[broker-a\] in name server\[.*\] OK, [1-9]",),
    ),
)
FAILS = (
    Fails("updateKvConfig -s Space -k key", r"-v \(--value\) must be given", status=2),
    Fails("deleteKvConfig -s Space", r"-k \(--key\) must be given", status=2),
    Fails("updateNamesrvConfig -k listenPort -v 1", "listenPort"),
    Fails("wipeWritePerm", r"-b \(--brokerName\) must be given", status=2),
    Fails("getNamesrvConfig -k x", "no flag", status=2),
    Fails("addWritePerm", r"-b \(--brokerName\) must be given", status=2),
)


def test_name_servers_are_asked_and_told(place: Place) -> None:
    for case in WORKS:
        place.see(case)
    for failure in FAILS:
        place.see_refused(failure)
