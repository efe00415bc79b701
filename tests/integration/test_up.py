"""`aerobee up` as people run it: the first line, what it says then, Ctrl-C, the second start."""

import asyncio
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aerobee import connect, connect_sync
from aerobee.client.admin.replica_group import ReplicaGroup
from aerobee.model.message_id import parse_offset_message_id
from aerobee.protocol.bodies.topic_route import decode_topic_route
from aerobee.protocol.request_codes import RequestCode
from tests.interop.features.waiting import until
from tests.interop.replication.brokers import steady_port
from tests.process_kit import SECONDS_MAX, Started, files_under
from tests.wire_client import WireClient
from tools.terminal_picture import Program

ANY_PORTS = ("--port", "0", "--nameserver-port", "0")
LAST = "up --demo"
"""Of the last line that it says."""
Run = Callable[..., Started]


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Run]:
    """Starts processes that are gone after the test."""
    running: list[Started] = []

    def start(*arguments: str, **environment: str) -> Started:
        running.append(Started(tmp_path, "up", *ANY_PORTS, *arguments, **environment))
        return running[-1]

    yield start
    for one in running:
        one.__exit__()


def masters(nameserver: int) -> dict[str, str]:
    """Where clients would be sent."""
    with WireClient(nameserver) as client:
        answer = client.ask(105, {"topic": "TBW102"})
        assert answer.code == 0, answer.remark
        route = decode_topic_route(bytes(answer.body))
        return {broker.name: broker.addresses[0] for broker in route.brokers}


def complaints(log: str) -> list[str]:
    """What is in its log, but for how far a store is that takes its time to open."""
    return [line for line in log.splitlines() if "opening the store" not in line]


def pasted(banner: str) -> str:
    """The Python that it shows, as somebody would mark and paste it."""
    start = banner.index("import aerobee\n")
    return banner[start : banner.index("\n\n", start) + 2]


def snippet_of(one: Started) -> str:
    """Runs the Python that it shows, once it is ready; all that it says."""
    one.ports()
    said = one.until(LAST)
    ran = python("-", stdin=pasted(said))
    assert ran.returncode == 0, ran.stderr
    return said


def python(*arguments: str, stdin: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], input=stdin, capture_output=True, text=True, check=False
    )


def test_it_runs_both_says_so_and_ctrl_c_stops_it(up: Run, tmp_path: Path) -> None:
    one = up("--store", f"{tmp_path}/data")
    ports = one.ports()
    assert set(ports) == {"nameserver", "broker", "gRPC", "metrics"}
    assert masters(ports["nameserver"]) == {"broker-a": f"127.0.0.1:{ports['broker']}"}
    said = one.until(LAST)
    status, stdout, stderr = one.stop(signal.SIGINT)
    assert (status, complaints(stderr)) == (0, [])
    lines = said.splitlines()
    found = re.fullmatch(r"Aerobee is up: [\d.]+ s, (\d+) MiB. Ctrl-C stops it.", lines[1])
    assert found is not None
    assert 10 < int(found[1]) < 90
    assert f"  name server  127.0.0.1:{ports['nameserver']}" in lines
    assert f"  broker-a     127.0.0.1:{ports['broker']}" in lines
    assert f"  metrics      http://127.0.0.1:{ports['metrics']}/metrics" in lines
    assert f"  data         {tmp_path}/data, nothing in it yet" in lines
    assert stdout.strip() == f"stopped; data stays in {tmp_path}/data"
    assert "\x1b" not in said
    assert not (tmp_path / "data/store/abort").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]


def test_the_python_works_as_pasted_and_a_second_start_goes_on(up: Run, tmp_path: Path) -> None:
    first = up("--store", f"{tmp_path}/data")
    first.ports()
    snippet = pasted(first.until(LAST))
    ran = python("-", stdin=snippet)
    assert (ran.returncode, ran.stdout) == (0, "first message\n"), ran.stderr
    ran = python("-i", "-q", stdin=snippet)  # somebody's prompt
    assert ran.stdout.splitlines()[-1] == "first message", ran.stderr
    assert first.stop()[0] == 0
    second = up("--store", f"{tmp_path}/data")
    second.ports()
    assert f"  data         {tmp_path}/data, goes on with 2 messages in 1 topic\n" in second.until(
        LAST
    )
    assert second.stop()[0] == 0


def test_a_temporary_folder_is_said_and_gone_at_the_end(up: Run, tmp_path: Path) -> None:
    one = up("--temp", TMPDIR=str(tmp_path))
    one.ports()
    assert len(list(tmp_path.iterdir())) == 1
    said = one.until(LAST)
    assert re.search(rf"  data +{tmp_path}/aerobee-\w+, temporary: removed at the stop\n", said)
    status, stdout, stderr = one.stop(signal.SIGINT)
    assert (status, stdout.strip()) == (0, "stopped; nothing is left")
    assert complaints(stderr) == []
    assert list(tmp_path.iterdir()) == []


def test_two_brokers_are_both_on_the_route(up: Run, tmp_path: Path) -> None:
    one = up("--store", f"{tmp_path}/data", "--brokers", "2")
    ports = one.ports()
    found = masters(ports["nameserver"])
    assert sorted(found) == ["broker-a", "broker-b"]
    assert found["broker-b"] == f"127.0.0.1:{ports['broker']}"  # the line names it last
    assert f"  broker-b     {found['broker-b']}\n" in one.until(LAST)
    assert one.stop()[0] == 0
    kept = {path.name for path in (tmp_path / "data").iterdir()}
    assert kept == {"console", "namesrv", "store", "store-b"}
    alone = up("--store", f"{tmp_path}/data")
    alone.ports()
    assert "2 brokers have messages there; say --brokers 2\n" in alone.until(LAST)


def test_a_slave_has_what_was_sent_and_is_in_sync(up: Run, tmp_path: Path) -> None:
    one = up("--temp", "--brokers", "1", "--slaves", "1", "--replication", "sync")
    nameserver = one.ports()["nameserver"]
    said = one.until(LAST)
    found = re.search(
        r"^  broker-a     (\S+)  SYNC_MASTER, inSyncReplicas=2\n {15}(\S+)  SLAVE 1$",
        said,
        re.MULTILINE,
    )
    assert found is not None, said
    master, slave = found.groups()

    at = f"127.0.0.1:{nameserver}"

    async def group() -> ReplicaGroup:
        async with connect(at, timeout=SECONDS_MAX) as client:
            return await client.admin.replicas.group("broker-a")

    with connect_sync(at, timeout=SECONDS_MAX) as client:
        sent = client.send("orders", b"one for two")
    place = {"offset": str(parse_offset_message_id(sent.offset_id).log_offset)}
    records = []
    for address in (master, slave):  # without waiting: it was acknowledged
        with WireClient(int(address.rpartition(":")[2])) as wire:
            records.append(bytes(wire.ask(RequestCode.VIEW_MESSAGE_BY_ID, place).body))
    assert b"one for two" in records[0]
    assert records[0] == records[1]
    replicas = asyncio.run(group())
    assert [member.address for member in replicas.members] == [master, slave]
    assert replicas.standing(replicas.slaves[0]).is_in_sync
    status, _, stderr = one.stop(signal.SIGINT)
    assert (status, complaints(stderr)) == (0, [])


def test_slaves_go_on_with_their_copies_and_are_missed_when_they_are_not_started(
    up: Run, tmp_path: Path
) -> None:
    place = ("--store", f"{tmp_path}/data")
    first = up(*place)
    snippet_of(first)
    assert first.stop()[0] == 0
    both = up(*place, "--slaves", "1", "--replication", "sync")
    assert "goes on with 1 message in 1 topic" in snippet_of(both)
    assert both.stop()[0] == 0
    kept = {path.name for path in (tmp_path / "data").iterdir()}
    assert kept == {"console", "namesrv", "store", "store-a-slave-1"}
    logs = [tmp_path / "data" / name / "commitlog" for name in ("store", "store-a-slave-1")]
    ours, copied = ((log / "00000000000000000000").read_bytes() for log in logs)
    assert copied.count(b"first message") == 2
    assert ours.startswith(copied.rstrip(b"\0"))
    alone = up(*place)
    alone.ports()
    assert "slaves have copies there; say --slaves 1\n" in alone.until(LAST)


def test_members_of_a_group_end_with_it_also_if_it_is_killed(up: Run, tmp_path: Path) -> None:
    port = steady_port()
    words = ("--nodes", "1", "--replication", "raft", "--port", str(port), "--no-console")
    for number in (signal.SIGINT, signal.SIGKILL):
        one = up("--store", f"{tmp_path}/data", *words)
        assert one.ports()["broker"] == port
        assert f"  broker-a     127.0.0.1:{port}\n" in one.until(LAST)
        with WireClient(port) as client:
            assert client.ask(28).code == 0  # how it is doing
        status, _, stderr = one.stop(number)
        assert status == (0 if number == signal.SIGINT else -number)
        assert "Traceback" not in stderr
        until(lambda: not _is_open(port), SECONDS_MAX, "the member has ended, too")


def _is_open(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def test_a_folder_that_is_in_use_and_a_port_that_is_taken_are_said(up: Run, tmp_path: Path) -> None:
    first = up("--store", f"{tmp_path}/data")
    ports = first.ports()
    status, stdout, stderr = up("--store", f"{tmp_path}/data").end()
    assert (status, stdout) == (3, "")
    assert f"another name server uses {tmp_path}/data/namesrv" in stderr
    assert "--store" in stderr
    taken = ("--nameserver-port", str(ports["nameserver"]))
    status, stdout, stderr = up(*taken, "--temp", TMPDIR=str(tmp_path)).end()
    assert (status, stdout) == (3, "")
    assert f"cannot listen on 127.0.0.1:{ports['nameserver']}: another process" in stderr
    assert "--nameserver-port" in stderr
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
    assert first.stop()[0] == 0


def test_a_folder_that_cannot_be_written_is_said(up: Run, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file, where a folder should be")
    status, stdout, stderr = up("--store", f"{tmp_path}/data").end()
    assert (status, stdout) == (3, "")
    assert stderr.startswith(f"aerobee: cannot write {tmp_path}/data/namesrv")
    assert files_under(tmp_path) == ["data"]


def test_whoever_reads_no_further_does_not_stop_it(up: Run, tmp_path: Path) -> None:
    one = up("--store", f"{tmp_path}/data")
    ports = one.ports()
    assert one.process.stdout is not None
    one.process.stdout.close()
    assert masters(ports["nameserver"])
    with WireClient(ports["broker"]) as client:
        assert client.ask(28).code == 0  # how it is doing
    one.process.send_signal(signal.SIGTERM)
    assert one.process.wait(SECONDS_MAX) == 0
    assert one.process.stderr is not None
    assert "Traceback" not in one.process.stderr.read()
    one.process.stderr.close()


def test_the_demonstration_says_numbers_without_a_terminal_and_goes_on(
    up: Run, tmp_path: Path
) -> None:
    for kept in ("nothing in it yet", r"goes on with \d+ messages in [34] topics"):
        demo = up("--store", f"{tmp_path}/data", "--demo")
        demo.ports()
        said = demo.until("demo: in ")
        assert re.search(kept, said)
        *_, line = said.splitlines()
        assert len(line) <= 80
        assert "\x1b" not in said
        figures = dict(re.findall(r"(\w+) ([\d,]+)", line))
        while not (int(figures["in"]) > 20 and int(figures["out"]) > 20):
            line = demo.until("demo: in ").splitlines()[-1]
            figures = dict(re.findall(r"(\w+) ([\d,]+)", line))
        status, stdout, stderr = demo.stop(signal.SIGINT)
        assert status == 0
        assert "Traceback" not in stderr
        assert stdout.splitlines()[-1] == f"stopped; data stays in {tmp_path}/data"


def test_the_demonstration_is_drawn_within_a_terminal_of_80_columns(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "aerobee.cli.main", "up", "--demo", "--temp", *ANY_PORTS]
    program = Program(command, TMPDIR=str(tmp_path), NO_COLOR="")
    terminal = program.terminal
    while not (terminal.is_second_screen and "demo-billing" in "\n".join(terminal.lines())):
        assert program.read(60)
    wraps = terminal.wraps
    orders = 0
    while "up 0:00" in terminal.lines()[1] or orders <= 30:
        assert program.read(60)
        found = re.search(r"^demo-orders .* ([\d,]+)$", "\n".join(terminal.lines()), re.MULTILINE)
        orders = int(found[1].replace(",", "")) if found else orders  # it may be half drawn
    assert terminal.wraps == wraps
    assert not terminal.has_cursor
    assert {cell.style for row in terminal.cells for cell in row} >= {"1", "32", "36"}
    assert program.stop() == 0
    assert terminal.has_cursor
    assert not terminal.is_second_screen
    assert [line for line in terminal.lines() if line][-1] == "stopped; nothing is left"
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_that_is_closed_stops_it_and_nothing_is_left(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "aerobee.cli.main", "up", "--demo", "--temp", *ANY_PORTS]
    program = Program(command, TMPDIR=str(tmp_path))
    while not program.terminal.is_second_screen:
        assert program.read(60)
    program.hang_up()
    assert program.process.wait(SECONDS_MAX) == 0
    assert list(tmp_path.iterdir()) == []
