"""The broker as people run it: a process, sockets, signals, files, name servers."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aerobee.model.route import TopicRoute
from aerobee.protocol.bodies.topic_route import decode_topic_route
from tests.broker_kit import pull_fields
from tests.process_kit import Started, files_under
from tests.wire import JAVA_FIELDS
from tests.wire_client import WireClient

SMALL = (
    "mappedFileSizeCommitLog=1048576\nmappedFileSizeConsumeQueue=20000\n"
    "maxHashSlotNum=1000\nmaxIndexNum=4000\n"
)
SEND = {**JAVA_FIELDS, "e": "0", "i": ""}
Run = Callable[..., Started]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Starts processes that are gone after the test."""
    running: list[Started] = []

    def start(*arguments: str, **environment: str) -> Started:
        running.append(Started(tmp_path, *arguments, **environment))
        return running[-1]

    yield start
    for one in running:
        one.__exit__()


@pytest.fixture
def config(tmp_path: Path) -> str:
    """A file for a broker with small files."""
    file = tmp_path / "broker.conf"
    file.write_text(SMALL)
    return str(file)


def route(nameserver: int, topic: str) -> TopicRoute | None:
    with WireClient(nameserver) as client:
        answer = client.ask(105, {"topic": topic})
        return decode_topic_route(bytes(answer.body)) if answer.code == 0 else None


def test_a_message_goes_through_and_outlives_the_process(run: Run, config: str) -> None:
    broker = run("broker", "start", "-c", config, "--port", "0")
    with WireClient(broker.ports()["broker"]) as client:
        sent = client.ask(310, SEND, b"first message")
        assert (sent.code, sent.ext_fields["queueOffset"]) == (0, "0"), sent.remark
    status, stdout, stderr = broker.stop()
    assert (status, stdout) == (0, "")
    assert "Traceback" not in stderr
    again = run("broker", "start", "-c", config, "--port", "0")
    with WireClient(again.ports()["broker"]) as client:
        pulled = client.ask(11, pull_fields(suspendTimeoutMillis=0))
        assert pulled.code == 0, pulled.remark
        assert b"first message" in bytes(pulled.body)
    assert again.stop()[0] == 0


def test_it_is_found_at_the_name_server_as_long_as_it_runs(run: Run, config: str) -> None:
    nameserver = run("nameserver", "start", "--port", "0").ports()["nameserver"]
    broker = run("broker", "start", "-c", config, "--port", "0", "-n", f"127.0.0.1:{nameserver}")
    port = broker.ports()["broker"]
    found = route(nameserver, "TBW102")  # when it says that it is ready it is there
    assert found is not None
    assert found.brokers[0].addresses == {0: f"127.0.0.1:{port}"}
    with WireClient(port - 2) as client:  # Java's other port: a send there makes a topic
        assert client.ask(310, SEND, b"x").code == 0
    while route(nameserver, "Orders") is None:
        pass
    assert broker.stop()[0] == 0
    assert route(nameserver, "TBW102") is None


def test_a_name_server_that_is_not_there_does_not_keep_it_from_starting(
    run: Run, config: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = taken.getsockname()[1]
    broker = run("broker", "start", "-c", config, "--port", "0", "-n", f"127.0.0.1:{nobody}")
    broker.ports()
    late = run("nameserver", "start", "--port", str(nobody))
    late.ports()
    while route(nobody, "TBW102") is None:
        pass
    status, _, stderr = broker.stop()
    assert status == 0
    assert "a name server did not take all topics" in stderr
    assert "registered with a name server" in stderr


def test_either_port_that_is_taken_is_said_and_nothing_is_touched(run: Run, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for above in (0, 2):
            status, stdout, stderr = run("broker", "start", "--port", str(port + above)).end()
            assert (status, stdout) == (3, "")
            assert f"cannot listen on 127.0.0.1:{port}: another process listens there" in stderr
            assert "Traceback" not in stderr
    assert files_under(tmp_path) == []


def test_a_second_one_on_the_same_store_is_refused(run: Run, config: str, tmp_path: Path) -> None:
    first = run("broker", "start", "-c", config, "--port", "0")
    port = first.ports()["broker"]
    first.process.send_signal(signal.SIGSTOP)  # what changes from here on is the second one's doing
    os.waitid(os.P_PID, first.process.pid, os.WSTOPPED | os.WNOWAIT)
    before = files_under(tmp_path)
    status, stdout, stderr = run("broker", "start", "-c", config, "--port", "0").end()
    assert (status, stdout) == (3, "")
    assert f"another process has the store {tmp_path}/store open" in stderr
    assert files_under(tmp_path) == before
    first.process.send_signal(signal.SIGCONT)
    with WireClient(port) as client:
        assert client.ask(310, SEND, b"x").code == 0


def test_a_place_that_cannot_be_written_is_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = f"{tmp_path}/file/store"
    status, _, stderr = run("broker", "start", "--port", "0", "--store", store).end()
    assert status == 3
    assert f"cannot open the store {store}" in stderr
    assert "--store" in stderr
    assert "Traceback" not in stderr


def test_damaged_topics_are_said_and_left_alone(run: Run, config: str, tmp_path: Path) -> None:
    folder = tmp_path / "store/config"
    folder.mkdir(parents=True)
    (folder / "topics.json").write_bytes(b'{"topicConfigTable":')
    status, _, stderr = run("broker", "start", "-c", config, "--port", "0").end()
    assert status == 3
    assert "topics.json" in stderr
    assert "Traceback" not in stderr
    assert (folder / "topics.json").read_bytes() == b'{"topicConfigTable":'


def test_all_mistakes_of_a_configuration_are_said_at_once(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "broker.conf"
    file.write_text("listenPort=x\nflushDiskTyp=SYNC_FLUSH\nbrokerRole=SLAVE\n")
    broker = run("broker", "start", "-c", str(file), AEROBEE_BROKER_BROKER_NMAE="b")
    status, stdout, stderr = broker.end()
    assert (status, stdout) == (2, "")
    assert stderr.splitlines() == [
        f"aerobee: {file} line 1: listenPort must be 0 or a whole number from 3 to 65535, not 'x'",
        "aerobee: brokerRole=SLAVE needs a brokerId above 0: write brokerId=1",
        f"aerobee: {file} line 2: flushDiskTyp is not known: did you mean flushDiskType?",
        "aerobee: environment variable AEROBEE_BROKER_BROKER_NMAE is not known: "
        "did you mean AEROBEE_BROKER_BROKER_NAME?",
    ]
    assert files_under(tmp_path) == ["broker.conf"]


def test_garbage_costs_only_its_own_connection(run: Run, config: str) -> None:
    broker = run("broker", "start", "-c", config, "--port", "0")
    port = broker.ports()["broker"]
    with WireClient(port) as good, WireClient(port) as silent:
        silent.write(b"\0\0")
        for garbage in (b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 100, b"\0\0\0\x08\0\0\0\x04nope"):
            with WireClient(port) as bad:
                bad.write(garbage)
                assert bad.read() is None
        assert good.ask(999).code == 3
        assert good.ask(310, SEND, b"x").code == 0
    assert broker.stop()[0] == 0


def test_a_changed_setting_outlives_the_process(run: Run, config: str) -> None:
    broker = run("broker", "start", "-c", config, "--port", "0")
    with WireClient(broker.ports()["broker"]) as client:
        assert client.ask(25, body=b"autoCreateTopicEnable=false\n").code == 0
    broker.process.kill()
    broker.end()
    again = run("broker", "start", "-c", config, "--port", "0")
    with WireClient(again.ports()["broker"]) as client:
        assert b"autoCreateTopicEnable=false\n" in bytes(client.ask(26).body)
        assert client.ask(310, SEND, b"x").code == 17
    assert again.stop()[0] == 0
