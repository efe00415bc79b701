from dataclasses import replace

import pytest

from aerobee.app.diagnosis.finding import BAD, OK, WARN
from aerobee.app.diagnosis.runtime import RuntimeFacts, runtime_findings

GOOD = RuntimeFacts((3, 12, 1), "CPython", "0.21.0", 60, 60)


def test_a_good_installation_is_well() -> None:
    assert {one.level for one in runtime_findings(GOOD)} == {OK}


@pytest.mark.parametrize(
    ("facts", "subject", "level"),
    [
        (replace(GOOD, python=(3, 11, 0)), "Python", OK),
        (replace(GOOD, python=(3, 10, 9)), "Python", BAD),
        (replace(GOOD, loop_version=""), "event loop", WARN),
        (replace(GOOD, compiled=0), "compiled modules", WARN),
        (replace(GOOD, compiled=59), "compiled modules", BAD),
        (replace(GOOD, system="darwin"), "system", WARN),
    ],
)
def test_what_is_missing_is_said(facts: RuntimeFacts, subject: str, level: str) -> None:
    (found,) = [one for one in runtime_findings(facts) if one.subject == subject]
    assert found.level == level
    assert (level == OK) == (not found.change)
