import asyncio
import errno
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from aerobee.app.process.lifecycle import (
    COULD_NOT_START,
    FAILED,
    STOPPED,
    CannotStart,
    Ended,
    explained,
    run,
    shout_if_open,
    warn_if_open,
)
from aerobee.app.settings.config import ListenConfig


class Recorded:
    """A part that writes down what happens to it."""

    def __init__(self, name: str, log: list[str], fault: Exception | None = None) -> None:
        self.name = name
        self.log = log
        self.fault = fault

    async def start(self, failed: Ended) -> str:
        self.log.append(f"start {self.name}")
        if isinstance(self.fault, CannotStart):
            raise self.fault
        if self.fault is not None:
            asyncio.get_running_loop().call_soon(failed, self.fault)
        return f"{self.name} at {len(self.log)}"

    async def stop(self) -> None:
        self.log.append(f"stop {self.name}")


class Signalled(Recorded):
    """Sends this process a signal once it has started."""

    def __init__(self, name: str, log: list[str], number: int) -> None:
        super().__init__(name, log)
        self.number = number

    async def start(self, failed: Ended) -> str:
        asyncio.get_running_loop().call_soon(os.kill, os.getpid(), self.number)
        return await super().start(failed)


@pytest.fixture(autouse=True)
def signals_count() -> Iterator[None]:
    """Also where the tests run under nohup, or in the background of a shell, which ignore some."""
    numbers = (signal.SIGHUP, signal.SIGINT)
    before = [signal.signal(number, signal.SIG_DFL) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_parts_start_in_order_and_stop_in_reverse_on_a_signal(
    number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    log: list[str] = []
    assert run([Recorded("a", log), Signalled("b", log, number)]) == STOPPED
    assert log == ["start a", "start b", "stop b", "stop a"]
    assert capsys.readouterr().out == "ready: a at 1, b at 2\n"


def test_under_nohup_a_terminal_that_is_closed_is_no_end() -> None:
    class HungUp(Signalled):
        async def start(self, failed: Ended) -> str:
            said = await super().start(failed)
            asyncio.get_running_loop().call_later(0, os.kill, os.getpid(), signal.SIGTERM)
            self.log.append("hung up")
            return said

    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    log: list[str] = []
    assert run([HungUp("a", log, signal.SIGHUP)]) == STOPPED
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    assert log == ["start a", "hung up", "stop a"]


def test_guests_come_after_the_line_and_leave_before_the_parts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log: list[str] = []
    guests = [Recorded("guest", log), Signalled("last", log, signal.SIGINT)]
    assert run([Recorded("a", log)], guests) == STOPPED
    assert log == ["start a", "start guest", "start last", "stop last", "stop guest", "stop a"]
    assert capsys.readouterr().out == "ready: a at 1\nguest at 2\nlast at 3\n"


def test_a_part_that_cannot_start_stops_the_others_and_says_why(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log: list[str] = []
    parts = [
        Recorded("a", log),
        Recorded("b", log, CannotStart("no room", hint="make some")),
        Recorded("c", log),
    ]
    assert run(parts) == COULD_NOT_START
    assert log == ["start a", "start b", "stop a"]
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "aerobee: no room (make some)\n")


def test_a_part_that_fails_later_ends_the_process_with_an_error(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    log: list[str] = []
    assert run([Recorded("a", log, OSError("disk"))]) == FAILED
    assert log == ["start a", "stop a"]
    assert "stopping because of an error" in caplog.text


class Waiting(Recorded):
    """Stops when it is told to hurry, and is told so by a second signal."""

    def __init__(self, name: str, log: list[str]) -> None:
        super().__init__(name, log)
        self._hurried = asyncio.Event()

    def hurry(self) -> None:
        self.log.append(f"hurry {self.name}")
        self._hurried.set()

    async def stop(self) -> None:
        asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGTERM)
        await asyncio.wait_for(self._hurried.wait(), 10)
        await super().stop()


def test_a_second_signal_has_a_part_stop_that_waits_for_clients() -> None:
    log: list[str] = []
    parts = [Recorded("a", log), Waiting("b", log), Signalled("c", log, signal.SIGTERM)]
    assert run(parts) == STOPPED
    assert log[3:] == ["stop c", "hurry b", "stop b", "stop a"]


class Stuck(Recorded):
    """Cannot stop as it should."""

    async def stop(self) -> None:
        await super().stop()
        raise OSError("it cannot be synced")


def test_a_part_that_cannot_stop_is_an_error_and_the_others_stop(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log: list[str] = []
    parts = [Recorded("a", log), Stuck("b", log), Signalled("c", log, signal.SIGTERM)]
    assert run(parts) == FAILED
    assert log[3:] == ["stop c", "stop b", "stop a"]
    assert "it did not stop as it should" in caplog.text


def test_a_process_may_open_as_many_files_as_the_system_allows() -> None:
    program = (
        "import resource\n"
        "hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))\n"
        "from aerobee.app.process.lifecycle import allow_files\n"
        "assert allow_files() == hard\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.EADDRINUSE, "x"), r"cannot listen on \[::1\]:7: another process listens"),
        (OSError(errno.EADDRNOTAVAIL, "x"), "no such address"),
        (OSError(errno.EACCES, "x"), "need more rights"),
        (OSError(errno.EMFILE, "Too many open files"), "Too many open files"),
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
    ],
)
def test_why_a_port_cannot_be_had_is_said_in_words(error: OSError, said: str) -> None:
    with (
        pytest.raises(CannotStart, match=said) as caught,
        explained(ListenConfig(7, "::1"), hint="do this"),
    ):
        raise error
    assert caught.value.hint == "do this"


def test_a_port_that_others_can_reach_is_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as inner,
        socket.create_server(("0.0.0.0", 0)) as outer,
        caplog.at_level(logging.WARNING),
    ):
        for tell in (warn_if_open, shout_if_open):
            tell([inner])
        assert caplog.text == ""
        for tell in (warn_if_open, shout_if_open):
            tell([inner, outer])
    assert caplog.text.count("open to other machines") == 2
    assert caplog.text.count("INSECURE") == 1
