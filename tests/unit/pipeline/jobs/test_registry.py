import subprocess
import sys

import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.jobs.registry import JOBS, job_of


def test_every_job_declares_each_option_once_and_shows_how_it_is_run() -> None:
    assert list(JOBS) == ["statistics", "upsert", "lake", "replay", "audit"]
    for name, job in JOBS.items():
        names = [option.name for option in job.options]
        assert len(set(names)) == len(names)
        assert job.example.startswith(f"aerobee pipeline run {name} ")
        assert all(len(option.name) + len(option.text) < 100 for option in job.options)


def test_a_job_that_is_not_there_is_near_one_that_is() -> None:
    assert job_of("lake") is JOBS["lake"]
    with pytest.raises(Misuse, match=r"there is no job statistic \(was statistics meant"):
        job_of("statistic")


def test_a_list_of_jobs_does_not_wait_for_spark() -> None:
    words = "import sys, aerobee.pipeline.jobs.registry; print('pyspark' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert said.stdout == "False\n"
