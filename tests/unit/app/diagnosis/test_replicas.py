from aerobee.app.diagnosis.finding import BAD, OK, WARN
from aerobee.app.diagnosis.replicas import replica_findings
from aerobee.app.explaining.findings import Cause
from aerobee.model.replica_status import DIVERGED
from tests.unit.app.explaining.test_replica_causes import IN_SYNC, group, master, member, slave


def test_a_master_alone_is_no_finding() -> None:
    assert replica_findings([group(master())]) == []


def test_slaves_in_sync_are_as_they_should_be() -> None:
    (found,) = replica_findings([group(master(IN_SYNC), slave())])
    assert (found.level, found.area) == (OK, "cluster")
    assert (found.subject, found.seen) == (
        "replicas of broker-a",
        "a master and 1 slave, all in sync",
    )
    assert (found.change, found.why) == ("", "")


def test_a_fault_has_its_level_and_its_remedy_with_a_command() -> None:
    groups = {
        Cause.NO_MASTER: (BAD, group(slave())),
        Cause.NO_ANSWER: (BAD, group(member(0, None))),
        Cause.TOO_FEW_COPIES: (BAD, group(master(copies=2, role="SYNC_MASTER"))),
        Cause.NO_PROMISE: (WARN, group(master(role="SYNC_MASTER"))),
        Cause.DIVERGED: (BAD, group(master(IN_SYNC), slave(state=DIVERGED))),
        Cause.NOT_FOLLOWING: (WARN, group(master(), slave(link=""))),
        Cause.SLAVE_BEHIND: (WARN, group(master(IN_SYNC._replace(lag_ms=5_000)), slave())),
        Cause.NOT_REGISTERED: (WARN, group(master(IN_SYNC, IN_SYNC), slave())),
        Cause.TWO_MASTERS: (BAD, group(master(IN_SYNC), member(1, master().status))),
    }
    for cause, (level, found) in groups.items():
        findings = replica_findings([found])
        if cause is Cause.NO_ANSWER:  # a name of one broker, which waits for nobody
            assert findings == []
            continue
        assert findings[0].level == level, cause
        assert "`aerobee " in findings[0].change
        assert findings[0].why
