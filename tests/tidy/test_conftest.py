"""What tests/conftest.py promises of every run, seen in a run of its own."""

import os
import subprocess
import sys
from pathlib import Path

from aerobee._compiled import HOT_MODULES, is_compiled
from tests.tidy.source_tree import ROOT


def run_tests(folder: Path, text: str, **settings: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-q", str(folder)],
        cwd=ROOT,
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_test_that_leaves_a_thread_behind_fails(tmp_path: Path) -> None:
    text = """
import threading
event = threading.Event()

def test_leaves_one():
    threading.Thread(target=event.wait, name="forgotten", daemon=True).start()

def test_joins_its_own():
    event.set()
    thread = threading.Thread(target=event.wait)
    thread.start()
    thread.join()
"""
    run = run_tests(tmp_path, text)
    assert "threads still running after the test: ['forgotten']" in run.stdout
    assert "2 passed, 1 error" in run.stdout


def test_a_run_on_the_wrong_build_does_not_start(tmp_path: Path) -> None:
    wrong = "0" if all(is_compiled(name) for name in HOT_MODULES) else "1"
    run = run_tests(tmp_path, "def test_it(): ...\n", EXPECT_COMPILED=wrong)
    assert run.returncode != 0
    assert f"EXPECT_COMPILED={wrong}, but " in run.stderr
    assert "passed" not in run.stdout


def test_examples_are_the_same_on_every_run_unless_asked_otherwise(tmp_path: Path) -> None:
    text = """
from hypothesis import given, settings, strategies as st
seen = []

@given(st.integers())
def test_it(x):
    seen.append(x)

def test_show():
    print("drawn:", len(seen), hash(tuple(seen)))
    assert not seen
"""
    drawn = [
        next(
            line
            for line in run_tests(tmp_path, text).stdout.splitlines()
            if line.startswith("drawn:")
        )
        for _ in range(2)
    ]
    assert drawn[0] == drawn[1]
    assert drawn[0].split()[1] == "100"
