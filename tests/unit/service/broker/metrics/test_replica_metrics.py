from aerobee.model.metric import Metric
from aerobee.model.replica_status import (
    DIVERGED,
    FOLLOWING,
    UNKNOWN,
    MasterStatus,
    ReplicaLag,
    ReplicaStatus,
    SlaveStatus,
)
from aerobee.ports.clock import Now
from aerobee.service.broker.metrics.replica_metrics import ReplicaMetrics, replica_metrics

NEAR = ReplicaLag("10.0.0.2:41234", 510, 0, 0, True)
FAR = ReplicaLag("10.0.0.3:41235", 200, 310, 4_500, False)
SLAVE = SlaveStatus("10.0.0.1:10912", FOLLOWING, 500, 480, 510, 10, 30)


def values(status: ReplicaStatus) -> dict[str, object]:
    """The values of all metrics by name, of those with labels by replica."""
    return {metric.name: _value(metric) for metric in replica_metrics(status)}


def _value(metric: Metric) -> object:
    samples = {sample.labels.get("replica"): sample.value for sample in metric.samples}
    return samples.get(None, samples)


def test_a_master_shows_each_slave_by_its_host() -> None:
    assert values(MasterStatus(510, 2, [NEAR, FAR])) == {
        "aerobee_replica_is_master": 1,
        "aerobee_replica_end_offset": 510,
        "aerobee_replicas_connected": 2,
        "aerobee_replicas_in_sync": 2,
        "aerobee_replicas_wanted": 2,
        "aerobee_replica_ack_offset": {"10.0.0.2": 510, "10.0.0.3": 200},
        "aerobee_replica_lag_bytes": {"10.0.0.2": 0, "10.0.0.3": 310},
        "aerobee_replica_lag_seconds": {"10.0.0.2": 0.0, "10.0.0.3": 4.5},
    }


def test_slaves_that_share_a_host_are_told_apart() -> None:
    beside = FAR._replace(address="10.0.0.2:9", lag_ms=UNKNOWN)
    found = values(MasterStatus(510, 2, [NEAR, beside]))
    assert found["aerobee_replica_lag_bytes"] == {"10.0.0.2:41234": 0, "10.0.0.2:9": 310}
    assert found["aerobee_replica_lag_seconds"] == {"10.0.0.2:41234": 0.0}


def test_a_slave_shows_its_own_lag_as_far_as_it_knows_it() -> None:
    assert values(SLAVE) == {
        "aerobee_replica_is_master": 0,
        "aerobee_replica_end_offset": 500,
        "aerobee_slave_follows": 1,
        "aerobee_slave_lag_bytes": 10,
        "aerobee_slave_lag_seconds": 0.03,
    }
    lost = SLAVE._replace(state=DIVERGED, lag_bytes=UNKNOWN, lag_ms=UNKNOWN)
    assert values(lost) == {
        "aerobee_replica_is_master": 0,
        "aerobee_replica_end_offset": 500,
        "aerobee_slave_follows": 0,
    }


def test_a_page_shows_the_status_of_its_moment() -> None:
    asked: list[Now] = []

    def status(now: Now) -> ReplicaStatus:
        asked.append(now)
        return SLAVE

    now = Now(1, 2)
    assert [one.name for one in ReplicaMetrics(status).metrics(now)] == list(values(SLAVE))
    assert asked == [now]
