import pytest

from aerobee.app.load.workload.jobs import (
    BATCH_BYTES_MAX,
    filling_jobs,
    receiving_jobs,
    sending_jobs,
)
from aerobee.app.load.workload.workload import Workload
from aerobee.errors import Misuse

RUN = "00" * 8


def test_processes_share_producers_and_messages() -> None:
    workload = Workload(processes=3, producers=7, count=100)
    jobs = sending_jobs(workload, "host:1", RUN, ["t"])
    assert [job.clients for job in jobs] == [3, 2, 2]
    assert [job.count for job in jobs] == [34, 33, 33]
    assert [(job.share, job.of) for job in jobs] == [(0, 3), (1, 3), (2, 3)]


def test_nobody_has_nothing_to_do() -> None:
    jobs = sending_jobs(Workload(processes=4, count=2), "host:1", RUN, ["t"])
    assert [job.count for job in jobs] == [1, 1]


def test_only_what_is_timed_on_arrival_is_stamped() -> None:
    for kind, is_stamped in (("produce", False), ("roundtrip", True)):
        workload = Workload(kind=kind)  # type: ignore[arg-type]
        assert [job.is_stamped for job in sending_jobs(workload, "h:1", RUN, ["t"])] == [is_stamped]


def test_a_batch_that_no_broker_takes_is_refused_with_one_that_fits() -> None:
    with pytest.raises(Misuse, match="more than a broker takes") as caught:
        sending_jobs(Workload(batch=100, size_max=100_000), "host:1", RUN, ["t"])
    batch = int(caught.value.hint.split()[-1])
    assert batch * 100_000 <= BATCH_BYTES_MAX


def test_every_group_consumes_every_topic_and_consumers_are_spread() -> None:
    workload = Workload(kind="consume", groups=2, consumers=2, processes=3)
    jobs = receiving_jobs(workload, "host:1", RUN, ["t", "u"], ["g", "h"])
    assert len(jobs) == 3
    consumers = [one for job in jobs for one in job.consumers]
    assert sorted(consumers) == sorted([(t, g) for t in "tu" for g in "gh"] * 2)
    assert [len(job.consumers) for job in jobs] == [3, 3, 2]


def test_a_backlog_is_sent_in_batches_that_are_not_too_large() -> None:
    (small,) = filling_jobs(Workload(kind="consume", backlog=10), "h:1", RUN, ["t"])
    assert (small.batch, small.count) == (10, 10)
    workload = Workload(kind="consume", backlog=10**6, size_min=1 << 20, size_max=1 << 20)
    (large,) = filling_jobs(workload, "h:1", RUN, ["t"])
    assert large.batch == 1
