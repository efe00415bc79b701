import os
import subprocess
import sys
from pathlib import Path

from tests.process_kit import SECONDS_MAX

TESTS = """
import aerobee

def test_a_reminder_comes_an_hour_later(aerobee_cluster):
    client = aerobee_cluster.client
    client.send("reminders", b"tea", delay=3600)
    aerobee_cluster.clock.advance(3600)
    with client.consumer("reminders", group="kitchen", start="earliest") as consumer:
        with (message := consumer.receive()).process():
            assert message.body == b"tea"

def test_each_test_has_a_cluster_of_its_own(aerobee_cluster):
    assert not aerobee_cluster.client.admin.topics.exists("reminders")
"""


def test_an_applications_tests_have_a_cluster_by_asking_for_it(tmp_path: Path) -> None:
    (tmp_path / "test_reminders.py").write_text(TESTS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "aerobee.testing.plugin", "-p",
         "no:cacheprovider", str(tmp_path)],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout
