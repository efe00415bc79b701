from aerobee.app.load.workload.job import Job, from_line, to_line


def test_a_job_is_the_same_after_a_line() -> None:
    job = Job("host:1", "00" * 8, ["t"], consumers=[("t", "g")], rate=1.5, count=3)
    line = to_line(job)
    assert "\n" not in line
    assert from_line(line) == job
    assert job.is_consuming
    assert not Job("host:1", "00" * 8, ["t"]).is_consuming
