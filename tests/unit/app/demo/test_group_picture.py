import re
from dataclasses import replace

import pytest

from aerobee.app.demo.group_figures import (
    DOWN,
    FOLLOWER,
    LEADER,
    PAUSED,
    MemberFigures,
    RaftFigures,
)
from aerobee.app.demo.group_picture import GroupPlaces, Loss, group_line, group_picture
from aerobee.app.demo.ledger import Ledger
from aerobee.app.ink import Ink

PLACES = GroupPlaces("127.0.0.1:9876", "./data", "aerobee")
GROUP = RaftFigures(
    4,
    123_456,
    [
        MemberFigures(0, "127.0.0.1:10911", DOWN),
        MemberFigures(1, "127.0.0.1:10921", LEADER),
        MemberFigures(2, "127.0.0.1:10931", FOLLOWER, 4_321, "its log is being compared"),
    ],
)
HUGE = RaftFigures(
    10**6,
    10**15,
    [
        MemberFigures(node, "192.168.100.100:65535", FOLLOWER, 10**12, "why " * 99)
        for node in range(9)
    ],
)
KILLED = Loss("12:00:01", "killed", 0, 5.0, 0.843, 1, 100)


def ledger(count: int = 200) -> Ledger:
    made = Ledger(0)
    for number in range(count):
        made.on_acknowledged(number, number)
        made.on_read(number, number)
    return made


def drawn(
    group: RaftFigures, *losses: Loss, warning: str = "", ink: Ink | None = None
) -> list[str]:
    rates = [0, 20, 25, 3] * 10
    return group_picture(65.0, group, ledger(), rates, losses, PLACES, warning, ink or Ink(False))


def test_it_says_who_leads_who_is_down_and_how_far_the_others_are() -> None:
    lines = drawn(GROUP)
    assert lines[1] == "up 1:05   term 4   data ./data"
    found = [one.split() for one in lines if re.match(r"n\d ", one)]
    assert found[0] == ["n0", "127.0.0.1:10911", "down"]
    assert found[1] == ["n1", "127.0.0.1:10921", "leader"]
    assert found[2][:4] == ["n2", "127.0.0.1:10931", "follower", "4,321"]
    assert "press k to kill the leader" in "\n".join(lines)


def test_a_kill_is_told_with_its_gap_and_what_was_acknowledged_since() -> None:
    lines = drawn(GROUP, KILLED, replace(KILLED, did="paused", gap_seconds=None))
    assert "12:00:01  n0 killed     843 ms  n1 leads, 100 acknowledged since" in lines
    assert "12:00:01  n0 paused  nothing is acknowledged yet" in lines
    counts = {line[:15].strip(): line[15:25].strip() for line in lines if line[:1].isalpha()}
    assert (counts["acknowledged"], counts["read back"], counts["lost"]) == ("200", "200", "0")


@pytest.mark.parametrize("group", [GROUP, HUGE], ids=["usual", "huge"])
@pytest.mark.parametrize("is_on", [True, False])
def test_it_fits_80_columns(group: RaftFigures, is_on: bool) -> None:
    lines = drawn(group, *[KILLED] * 9, warning="something is wrong " * 9, ink=Ink(is_on))
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", one) for one in lines]
    assert max(map(len, plain)) <= 80
    assert ("\x1b" in "".join(lines)) is is_on


def test_three_members_fit_24_lines() -> None:
    assert len(drawn(GROUP, *[KILLED] * 9)) <= 24


def test_a_loss_is_red() -> None:
    lost = Ledger(0)
    lost.on_acknowledged(0, 0)
    lost.on_read(1, 1)
    lines = group_picture(1.0, GROUP, lost, [], [], PLACES, "", Ink(True))
    assert any(one.startswith("\x1b[31mlost") for one in lines)


def test_a_line_for_a_log_says_the_same() -> None:
    assert group_line(GROUP, ledger()) == (
        "demo: n1 leads, term 4, 4,321 bytes behind, acknowledged 200, lost 0"
    )
    paused = GROUP._replace(members=[MemberFigures(1, "127.0.0.1:10921", PAUSED)])
    assert group_line(paused, ledger()).startswith("demo: nobody leads")
