import os
from pathlib import Path

from aerobee.app.members.member_job import from_line, job_of, to_line
from aerobee.app.settings.broker_settings import read_settings
from aerobee.app.settings.up_settings import UpFlags
from aerobee.app.settings.up_settings import read_settings as read_up_settings


def test_a_process_reads_the_settings_that_the_other_one_has(tmp_path: Path) -> None:
    flags = UpFlags(str(tmp_path), replication="raft", port="20911", beside={"testCluster": "true"})
    member = read_up_settings(flags, {}).members[2]
    job = job_of(member, "127.0.0.1:7", "ERROR")
    read = from_line(to_line(job).encode())
    assert (read.parent, read.level) == (os.getpid(), "ERROR")
    settings = read_settings(None, {}, read.told, read.defaults)
    assert settings.nameservers == ("127.0.0.1:7",)
    assert settings.raft == member.settings.raft
    assert settings.listen == member.settings.listen
    assert settings.storage == member.settings.storage
    assert settings.service == member.settings.service
    assert settings.service.is_test


def test_a_job_is_one_line(tmp_path: Path) -> None:
    flags = UpFlags(f"{tmp_path}/a folder\nof two lines", replication="raft", port="20911")
    member = read_up_settings(flags, {}).members[0]
    assert to_line(job_of(member, "127.0.0.1:7", "INFO")).count("\n") == 1
