import pytest

from aerobee.app.diagnosis.clock import ClockFacts, broker_offset, clock_findings
from aerobee.app.diagnosis.finding import BAD, OK, WARN


@pytest.mark.parametrize(
    ("facts", "levels"),
    [
        (ClockFacts(), [OK]),
        (ClockFacts(is_synchronized=True), [OK, OK]),
        (ClockFacts(is_synchronized=False), [WARN, OK]),
        (ClockFacts(source="tsc"), [OK, OK]),
        (ClockFacts(source="hpet"), [WARN, OK]),
        (ClockFacts(jumped_seconds=0.09), [OK]),
        (ClockFacts(jumped_seconds=-0.5), [BAD]),
        (ClockFacts(is_steady=False), [BAD]),
        (
            ClockFacts(offsets={"a": 1.9, "b": -2.0, "c": 29.0, "d": -30.0}),
            [OK, OK, WARN, WARN, BAD],
        ),
    ],
)
def test_clocks_are_judged(facts: ClockFacts, levels: list[str]) -> None:
    assert [one.level for one in clock_findings(facts)] == levels


def test_which_way_a_broker_is_off_is_said() -> None:
    ahead, behind = clock_findings(ClockFacts(offsets={"a": 5.0, "b": -50.0}))[-2:]
    assert ahead.seen == "5 s ahead of this machine"
    assert behind.seen == "50 s behind this machine"


def test_an_offset_within_what_is_not_known_is_none() -> None:
    # Booted at 0, has run 10 whole seconds: it is between 10.0 and 11.0 s there.
    assert broker_offset(0, 10, 10_000, 10_001) == 0
    assert broker_offset(0, 10, 11_000, 11_001) == 0
    assert broker_offset(0, 10, 14_000, 14_001) == -3.0
    assert broker_offset(0, 10, 5_000, 6_000) == 4.0
