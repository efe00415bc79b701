from pathlib import Path

import pytest

from tests.cli_kit import aerobee_here


def test_settings_are_listed_with_what_they_take() -> None:
    said = aerobee_here("config", "list", "broker", "-o", "json").records
    (flush,) = [one for one in said if one["key"] == "flushDiskType"]
    assert (flush["default"], flush["is_live"]) == ("ASYNC_FLUSH", False)
    live = aerobee_here("config", "list", "broker", "--live", "-o", "json").records
    assert 0 < len(live) < len(said)
    assert all(one["is_live"] for one in live)
    some = aerobee_here("config", "list", "nameserver", "--filter", "order", "-o", "json").records
    assert [one["key"] for one in some] == ["orderMessageEnable", "returnOrderTopicConfigToBroker"]


def test_a_setting_is_explained_for_every_server_that_has_it() -> None:
    said = aerobee_here("config", "explain", "fileReservedTime").out
    assert "TAKES     a whole number from 1 to 87600" in said
    assert "VARIABLE  AEROBEE_BROKER_FILE_RESERVED_TIME" in said
    both = aerobee_here("config", "explain", "listenPort", "-o", "json").records
    assert [(one["server"], one["default"]) for one in both] == [
        ("broker", "10911"),
        ("nameserver", "9876"),
    ]
    assert "\n\n" in aerobee_here("config", "explain", "listenPort").out
    nothing = aerobee_here("config", "explain", "accountStatsEnable")
    assert nothing.status == 0
    assert "means nothing" in nothing.out


def test_a_setting_that_is_not_there_is_not_found_and_one_that_was_meant_is_named() -> None:
    said = aerobee_here("config", "explain", "flushDiskTyp")
    assert said.status == 3
    assert "did you mean flushDiskType" in said.error


def test_what_would_hold_is_shown_with_where_it_comes_from(tmp_path: Path) -> None:
    file = tmp_path / "broker.conf"
    file.write_text(f"brokerName=b\nstorePathRootDir={tmp_path}/s\n")
    show = ("config", "show", "broker", "-c", str(file), "-o", "json")
    said = {one["key"]: one for one in aerobee_here(*show).records}
    assert said["brokerName"] == {"key": "brokerName", "value": "b", "from": f"{file} line 1"}
    assert said["flushDiskType"]["from"] == "default"
    changed = aerobee_here(*show, "--changed").records
    assert {one["key"] for one in changed} == {"brokerName", "storePathRootDir"}


@pytest.mark.parametrize("text", ["listenPort=x\nnonsense=1\n"])
def test_mistakes_are_wrong_use_and_all_are_said(tmp_path: Path, text: str) -> None:
    file = tmp_path / "namesrv.conf"
    file.write_text(text)
    said = aerobee_here("config", "show", "nameserver", "-c", str(file))
    assert said.status == 2
    assert "listenPort must be" in said.error
    assert "nonsense is not known" in said.error
    assert aerobee_here("config", "show", "toaster").status == 2
