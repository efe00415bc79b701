import json
from pathlib import Path

import pytest

from aerobee.app.chaos.chaos import FOLLOWER, LEADER, ChaosOutcome, ChaosPlan, Event
from aerobee.app.chaos.cluster import Fault
from aerobee.app.chaos.history import Counts, HistoryVerdict
from aerobee.app.chaos.log_check import Anomaly
from aerobee.app.chaos.report import (
    WIDTH,
    gap_rows,
    picture,
    problems,
    sentence,
    svg,
    to_json,
    write_svg,
)
from aerobee.app.ink import Ink
from aerobee.errors import Misuse

EVENTS = [
    Event(Fault.KILL, LEADER, "n0", 2.0, 4.0, 0.5),
    Event(Fault.KILL, LEADER, "n1", 12.0, 4.0, 1.5),
    Event(Fault.KILL, FOLLOWER, "n2", 22.0, 3.0, 0.02),
    Event(Fault.CUT, LEADER, "n2", 32.0, 5.0, 2.25),
]
SOUND = HistoryVerdict(Counts(800, 3, 804, 0, 0, 1, 0), [])
LOST = HistoryVerdict(
    Counts(800, 3, 799, 1, 0, 0, 0), [Anomaly("lost", b"0-7", "acknowledged at 5")]
)


def outcome(verdict: HistoryVerdict = SOUND) -> ChaosOutcome:
    # Twenty a second, and none for the gaps of the leader's faults.
    moments = [at / 20 for at in range(800)]
    for one in EVENTS:
        moments = [at for at in moments if not one.begun < at < one.begun + one.gap]
    skipped = [(Fault.DISK, "mounting takes root")]
    return ChaosOutcome(ChaosPlan(list(Fault), seed=7), 40.0, EVENTS, skipped, moments, verdict)


def test_gaps_are_told_by_kind_and_role() -> None:
    assert gap_rows(EVENTS) == [
        {
            "fault": "kill",
            "of": "leader",
            "times": 2,
            "gap_p50_ms": 500,
            "gap_p99_ms": 1500,
            "gap_longest_ms": 1500,
        },
        {
            "fault": "kill",
            "of": "follower",
            "times": 1,
            "gap_p50_ms": 20,
            "gap_p99_ms": 20,
            "gap_longest_ms": 20,
        },
        {
            "fault": "cut",
            "of": "leader",
            "times": 1,
            "gap_p50_ms": 2250,
            "gap_p99_ms": 2250,
            "gap_longest_ms": 2250,
        },
    ]
    assert gap_rows([]) == []


def test_the_picture_has_a_hole_under_which_the_fault_stands() -> None:
    _, drawn, marks, legend = picture(outcome(), Ink(False))
    assert max(len(drawn), len(marks)) <= WIDTH
    assert [letter for letter in marks if letter != " "] == ["K", "K", "k", "C"]
    for letter, at in (("C", marks.index("C")), ("K", marks.rindex("K"))):
        assert " " in drawn[at : at + 4], letter
    assert legend == "K kill, C cut; small letters: of a follower"


@pytest.mark.parametrize("seconds", [0.01, 0.5, 3_600.0])
def test_a_run_of_any_length_is_drawn(seconds: float) -> None:
    empty = outcome()._replace(seconds=seconds, events=[], acknowledged=[])
    assert all(len(line) <= WIDTH for line in picture(empty, Ink(False)))


def test_the_sentence_has_every_count() -> None:
    assert sentence(outcome()) == (
        "800 acknowledged, 3 failed at the client; 0 lost, 0 out of order, 0 wrong, 1 twice"
    )
    assert problems(outcome()) == ""
    assert "lost b'0-7'" in problems(outcome(LOST))


def test_json_has_the_faults_and_what_is_wrong() -> None:
    said = json.loads(json.dumps(to_json(outcome(LOST))))
    assert (said["is_sound"], said["lost"], said["seed"]) == (False, 1, 7)
    assert said["events"][3] == {
        "fault": "cut",
        "of": "leader",
        "broker": "n2",
        "begun_s": 32.0,
        "seconds": 5.0,
        "gap_ms": 2250.0,
    }
    assert said["skipped"] == [{"fault": "disk", "why": "mounting takes root"}]
    assert said["anomalies"][0]["name"] == "0-7"


def test_the_drawing_is_written_whole_or_it_is_said_why_not(tmp_path: Path) -> None:
    write_svg(f"{tmp_path}/chaos.svg", outcome())
    assert (tmp_path / "chaos.svg").read_text() == svg(outcome())
    assert svg(outcome()).count("<polyline") == 3
    with pytest.raises(Misuse, match="cannot be written"):
        write_svg(f"{tmp_path}/no/chaos.svg", outcome())
