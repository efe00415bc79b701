"""The benchmarks' load generator notices every wrong answer; a figure of it is worth something."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.broker_load import Figures, IdleConnections, compile_load, run_load

CPUS = tuple(os.sched_getaffinity(0))
SENDS = 10_000
WRONG = 10  # of them: every thousandth
BATCH = 32


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    return compile_load(tmp_path_factory.mktemp("load"))


class Dummy:
    """The server inside the generator, which can be told to answer wrongly now and then."""

    def __init__(self, program: Path, fault: str) -> None:
        self._program = program
        self._process = subprocess.Popen(
            [program, "dummy", "--fault", fault], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.port: int = json.loads(self._process.stdout.readline())["port"]

    def load(self, arguments: str) -> Figures:
        return run_load(self._program, self.port, arguments.split(), CPUS)

    def end(self) -> None:
        assert self._process.stdout is not None
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


@pytest.fixture
def dummy(program: Path, request: pytest.FixtureRequest) -> Iterator[Dummy]:
    running = Dummy(program, getattr(request, "param", "none"))
    yield running
    running.end()


@pytest.mark.parametrize(("mode", "messages"), [("send", 1), ("batch", BATCH), ("pull", BATCH)])
def test_good_answers_are_all_counted(dummy: Dummy, mode: str, messages: int) -> None:
    figures = dummy.load(f"{mode} --count {SENDS} --in-flight 7")
    assert (figures["errors"], figures["error"]) == (0, "")
    assert figures["requests"] == SENDS
    assert figures["count"] == SENDS * messages
    assert 0 < figures["p50_us"] <= figures["p99_us"] <= figures["p99.9_us"] <= figures["max_us"]


def test_a_filtered_pull_counts_what_passed_and_what_was_examined(dummy: Dummy) -> None:
    figures = dummy.load(f"pull-sql --count {SENDS} --in-flight 7")
    assert (figures["errors"], figures["error"]) == (0, "")
    assert figures["count"] == SENDS * BATCH
    # Half of any twelve pass, so 32 of 63 to 68.
    assert 1.9 < figures["examined_rate"] / figures["rate"] < 2.2


def test_every_popped_message_is_acknowledged_once_and_counted_then(dummy: Dummy) -> None:
    figures = dummy.load("pop --count 1000 --in-flight 128")
    assert (figures["errors"], figures["error"]) == (0, "")
    assert figures["count"] == 1000 * BATCH
    assert figures["requests"] == 1000 + 1000 * BATCH


def test_groups_of_pops_follow_each_other_before_the_topic_is_empty(dummy: Dummy) -> None:
    # The topic seems to hold a million.
    figures = dummy.load("pop --count 32000 --in-flight 256")
    assert (figures["errors"], figures["error"]) == (0, "")
    assert figures["count"] == 32_000 * BATCH


def test_transactions_count_when_their_messages_are_there(dummy: Dummy) -> None:
    figures = dummy.load(f"transaction --count {SENDS}")
    assert (figures["errors"], figures["error"]) == (0, "")
    assert figures["count"] == figures["requests"] == SENDS


def test_delayed_messages_are_waited_for_and_timed_from_when_they_are_due(dummy: Dummy) -> None:
    figures = dummy.load(f"delay --count {SENDS} --ahead 2")
    assert (figures["errors"], figures["error"]) == (0, "")
    assert figures["count"] == SENDS
    assert 0 < figures["first_out_ms"] <= figures["out_seconds"] * 1000 + 0.1  # it is rounded
    assert figures["out_rate"] == pytest.approx(SENDS / figures["out_seconds"], rel=0.01)


@pytest.mark.parametrize(("mode", "lost"), [("transaction", WRONG), ("delay --ahead 2", WRONG)])
@pytest.mark.parametrize("dummy", ["fewer"], indirect=True)
def test_a_message_that_never_comes_is_an_error(dummy: Dummy, mode: str, lost: int) -> None:
    figures = dummy.load(f"{mode} --count {SENDS} --patience 2")
    assert figures["error"].startswith("messages did not come")
    assert figures["errors"] >= lost


@pytest.mark.parametrize("mode", ["transaction", "delay --ahead 2"])
@pytest.mark.parametrize("dummy", ["twice"], indirect=True)
def test_a_message_more_than_was_sent_is_an_error(dummy: Dummy, mode: str) -> None:
    figures = dummy.load(f"{mode} --count {SENDS}")
    assert figures["error"].startswith("more messages than were sent")


@pytest.mark.parametrize("dummy", ["twice"], indirect=True)
def test_a_message_that_is_popped_twice_is_an_error(dummy: Dummy) -> None:
    figures = dummy.load("pop --count 2000 --in-flight 128")
    assert figures["errors"] == 2
    assert figures["error"].startswith("not the messages asked for")
    assert figures["count"] == 1998 * BATCH


@pytest.mark.parametrize("dummy", ["twice"], indirect=True)
def test_a_filtered_pull_with_a_message_that_does_not_belong_there_is_an_error(
    dummy: Dummy,
) -> None:
    figures = dummy.load(f"pull-sql --count {SENDS}")
    assert figures["errors"] == WRONG
    assert figures["error"].startswith("not the messages asked for")


@pytest.mark.parametrize("dummy", ["early"], indirect=True)
def test_a_message_that_is_there_before_it_is_due_is_an_error(dummy: Dummy) -> None:
    figures = dummy.load(f"delay --count {SENDS} --ahead 2")
    assert figures["error"].startswith("there before it was due")


@pytest.mark.parametrize("mode", ["send", "batch", "pull"])
@pytest.mark.parametrize("dummy", ["code"], indirect=True)
def test_an_answer_with_another_code_is_an_error(dummy: Dummy, mode: str) -> None:
    figures = dummy.load(f"{mode} --count {SENDS}")
    assert figures["errors"] == WRONG
    assert figures["error"].startswith("refused: {'code':2,")
    assert figures["count"] == (SENDS - WRONG) * (1 if mode == "send" else BATCH)


@pytest.mark.parametrize("dummy", ["opaque"], indirect=True)
def test_an_answer_to_nothing_is_an_error_and_so_is_what_stays_unanswered(dummy: Dummy) -> None:
    figures = dummy.load("send --count 1000 --patience 2")
    assert figures["errors"] == 2
    assert figures["error"].startswith("answer to nothing")
    assert figures["count"] == 999


@pytest.mark.parametrize("mode", ["batch", "pull", "pull-sql"])
@pytest.mark.parametrize("dummy", ["fewer"], indirect=True)
def test_an_answer_with_fewer_messages_is_an_error(dummy: Dummy, mode: str) -> None:
    figures = dummy.load(f"{mode} --count {SENDS}")
    assert figures["errors"] == WRONG
    assert figures["error"].startswith("not the messages asked for")
    assert figures["count"] == (SENDS - WRONG) * BATCH


def test_an_open_loop_keeps_its_schedule_and_says_how_late_it_was(dummy: Dummy) -> None:
    figures = dummy.load("open --rate 2000 --count 600")
    assert figures["count"] == 600
    # The last of 600 is due after 599 intervals, however quick the answers are.
    assert figures["seconds"] >= 599 / 2000
    assert figures["late_max_us"] <= figures["max_us"]


def test_idle_connections_are_counted_and_seen_to_stay(program: Path, dummy: Dummy) -> None:
    with IdleConnections(program, dummy.port, 50, CPUS) as connections:
        assert connections.figures["count"] == 50
    assert connections.closed == 0


def test_a_server_that_goes_away_is_an_error_and_not_the_end_of_a_run(
    program: Path, dummy: Dummy
) -> None:
    with IdleConnections(program, dummy.port, 50, CPUS) as connections:
        dummy.end()
    assert connections.closed == 50
