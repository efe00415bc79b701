"""The promises of tests/conftest.py to every run, seen in a run of its own."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from aerobee._compiled import HOT_MODULES, is_compiled
from tests.run_report import VARIABLES
from tests.tidy.source_tree import ROOT, SourceTree


def run_tests(
    folder: Path, text: str, *options: str, **settings: str
) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n  night\naddopts = -m 'not night'\n")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-q", str(folder), *options],
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


def test_a_run_in_the_background_of_a_shell_hears_an_interrupt(tmp_path: Path) -> None:
    text = """
import os, signal, subprocess, sys

def test_here():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("deaf")
    except KeyboardInterrupt:
        pass

def test_in_a_process():
    program = "import os; os.kill(os.getpid(), 2); print('deaf')"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True)
    assert not ran.stdout
"""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        run = run_tests(tmp_path, text)
    finally:
        signal.signal(signal.SIGINT, before)
    assert run.stdout.splitlines()[-1].startswith("2 passed in "), run.stdout


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


FAILING = """
import os, pytest

@pytest.mark.parametrize("text", ["it's", "fine"])
def test_of_two(text):
    assert text == "fine", os.environ["HYPOTHESIS_PROFILE"]

@pytest.mark.night
def test_of_the_night():
    raise AssertionError("dark")
"""


def commands(run: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in run.stdout.splitlines() if " -m pytest " in line]


def test_a_failure_prints_the_command_that_runs_this_one_test_again(tmp_path: Path) -> None:
    run = run_tests(tmp_path, FAILING, HYPOTHESIS_PROFILE="night")
    [command] = commands(run)
    assert run.stdout.splitlines()[-1].startswith("1 failed, 1 passed, 1 deselected in ")
    plain = {key: text for key, text in os.environ.items() if key not in VARIABLES}
    again = subprocess.run(
        command, shell=True, cwd=ROOT, env=plain, capture_output=True, text=True, check=False
    )
    assert "AssertionError: night" in again.stdout
    assert " 1 failed in " in again.stdout.splitlines()[-1]


def test_the_command_of_a_marked_test_chooses_it_again(tmp_path: Path) -> None:
    run = run_tests(tmp_path, FAILING, "-m", "night", HYPOTHESIS_PROFILE="night")
    [command] = commands(run)
    again = subprocess.run(
        command, shell=True, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert " 1 failed in " in again.stdout.splitlines()[-1]


def test_every_variable_that_a_test_looks_at_is_in_the_command(repository: SourceTree) -> None:
    read = {
        name
        for module in repository.tests
        for name in re.findall(r"environ\.get\(\"(?!AEROBEE_)([A-Z_]+)\"", module.text)
    }
    # These have a run write files; one test of it would write them wrong.
    assert sorted(read - {"INTEROP_TABLE", "RECORD_REFUSALS", "TEST_TIMES"} - set(VARIABLES)) == []


def test_the_slowest_tests_of_two_runs_are_named_together(tmp_path: Path) -> None:
    times = tmp_path / "times.txt"
    run_tests(tmp_path, "def test_it(): ...\n", TEST_TIMES=str(times))
    others = tmp_path / "others.txt"
    others.write_text("".join(f"{n}.50 a.py::test_that[{n} apples]\n" for n in range(1, 10)))
    shown = subprocess.run(
        [sys.executable, "tools/slowest_tests.py", times, others, tmp_path / "not-there.txt"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert re.fullmatch(r"the slowest of 10 tests, which took \d\d s:", shown[0])
    assert [line.split(" s  ")[1] for line in shown[1:]] == [
        *(f"a.py::test_that[{n} apples]" for n in range(9, 0, -1)),
        "test_it.py::test_it",
    ]
