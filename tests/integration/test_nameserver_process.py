"""The name server as people run it: a process, a socket, signals, files."""

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.register_broker import RegisterBroker, encode_register_broker
from aerobee.protocol.bodies.topic_route import decode_topic_route
from tests.nameserver_kit import place
from tests.process_kit import Started as Process
from tests.process_kit import files_under
from tests.wire_client import WireClient

TOPICS = RegisterBroker({"TBW102": TopicConfig("TBW102", 8, 8, 7), "Orders": TopicConfig("Orders")})


class Started(Process):
    """A name server."""

    def __init__(self, home: Path, *arguments: str, **environment: str) -> None:
        super().__init__(home, "nameserver", "start", *arguments, **environment)

    def port(self) -> int:
        return self.ports()["nameserver"]


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Started]:
    with Started(tmp_path, "--port", "0") as running:
        yield running


def register(client: WireClient) -> None:
    assert client.ask(103, place(), encode_register_broker(TOPICS)).code == 0


def test_a_broker_registers_a_client_finds_it_and_a_signal_ends_it(started: Started) -> None:
    port = started.port()
    with WireClient(port) as broker, WireClient(port) as client:
        register(broker)
        route = decode_topic_route(bytes(client.ask(105, {"topic": "Orders"}).body))
        assert route.brokers[0].addresses == {0: "10.0.0.1:10911"}
        broker.close()
        # The other connection's close is seen in an order that nobody promises: ask until it is.
        while client.ask(105, {"topic": "Orders"}).code == 0:
            pass
        assert client.ask(105, {"topic": "Orders"}).code == 17
        status, stdout, stderr = started.stop()
        assert client.read() is None
    assert (status, stdout) == (0, "")
    assert "stopped" in stderr
    assert "Traceback" not in stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_both_signals_stop_it_cleanly(started: Started, number: int) -> None:
    started.port()
    status, stdout, stderr = started.stop(number)
    assert (status, stdout) == (0, "")
    assert "Traceback" not in stderr


def test_key_values_and_changes_outlive_the_process(started: Started, tmp_path: Path) -> None:
    named = {"namespace": "ORDER_TOPIC_CONFIG", "key": "Orders"}
    with WireClient(started.port()) as client:
        assert client.ask(100, {**named, "value": "broker-a:4"}).code == 0
        assert client.ask(318, body=b"orderMessageEnable=true\n").code == 0
        started.process.kill()
        started.end()
    again = Started(tmp_path, "--port", "0")
    with WireClient(again.port()) as client:
        assert client.ask(101, named).ext_fields == {"value": "broker-a:4"}
        assert b"orderMessageEnable=true\n" in bytes(client.ask(319).body)
    assert again.stop()[0] == 0
    stored = (tmp_path / "namesrv/kvConfig.json").read_bytes()
    assert stored == b'{"configTable":{"ORDER_TOPIC_CONFIG":{"Orders":"broker-a:4"}}}'


def test_garbage_costs_only_its_own_connection(started: Started) -> None:
    port = started.port()
    with WireClient(port) as good, WireClient(port) as bad, WireClient(port) as silent:
        silent.write(b"\0\0")
        for garbage in (b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 100, b"\0\0\0\x08\0\0\0\x04nope"):
            with WireClient(port) as bad:
                bad.write(garbage)
                assert bad.read() is None
        assert good.ask(999).code == 3
        assert good.ask(105).code == 1
    assert started.stop()[0] == 0


def test_a_taken_port_is_said_and_nothing_is_touched(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, stdout, stderr = Started(tmp_path, "--port", str(port)).end()
    assert (status, stdout) == (3, "")
    assert f"cannot listen on 127.0.0.1:{port}: another process listens there" in stderr
    assert "Traceback" not in stderr
    assert files_under(tmp_path) == []


def test_a_second_one_with_the_same_files_is_refused(started: Started, tmp_path: Path) -> None:
    started.port()
    before = files_under(tmp_path)
    status, stdout, stderr = Started(tmp_path, "--port", "0").end()
    assert (status, stdout) == (3, "")
    assert "another name server uses" in stderr
    assert files_under(tmp_path) == before


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    status, _, stderr = Started(tmp_path / "file", "--port", "0").end()
    assert status == 3
    assert "cannot write" in stderr
    assert "kvConfigPath" in stderr


def test_damaged_key_values_are_said_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "namesrv").mkdir()
    damaged = tmp_path / "namesrv/kvConfig.json"
    damaged.write_bytes(b'{"configTable":')
    status, _, stderr = Started(tmp_path, "--port", "0").end()
    assert status == 3
    assert str(damaged) in stderr
    assert damaged.read_bytes() == b'{"configTable":'


def test_all_mistakes_of_a_configuration_are_said_at_once(tmp_path: Path) -> None:
    config = tmp_path / "namesrv.conf"
    config.write_text("listenPort=x\norderMesageEnable=true\nenableTopicList=1\n")
    run = Started(tmp_path, "-c", str(config), AEROBEE_NAMESRV_LISTN_PORT="1")
    status, stdout, stderr = run.end()
    assert (status, stdout) == (2, "")
    assert stderr.splitlines() == [
        f"aerobee: {config} line 1: listenPort must be a whole number from 0 to 65535, not 'x'",
        f"aerobee: {config} line 3: enableTopicList must be true or false, not '1'",
        f"aerobee: {config} line 2: orderMesageEnable is not known: "
        "did you mean orderMessageEnable?",
        "aerobee: environment variable AEROBEE_NAMESRV_LISTN_PORT is not known: "
        "did you mean AEROBEE_NAMESRV_LISTEN_PORT?",
    ]
    assert files_under(tmp_path) == ["namesrv.conf"]


def test_rocketmqs_own_file_works_and_what_does_not_apply_is_listed_once(tmp_path: Path) -> None:
    config = tmp_path / "namesrv.conf"
    config.write_text(
        "# as Apache's\nlistenPort = 0\nserverWorkerThreads=8\nrocketmqHome=/x\n"
        f"kvConfigPath={tmp_path}/kv/kvConfig.json\n"
    )
    running = Started(tmp_path, "-c", str(config))
    with WireClient(running.port()) as client:
        assert client.ask(100, {"namespace": "n", "key": "k", "value": "v"}).code == 0
    status, _, stderr = running.stop()
    assert status == 0
    assert stderr.count("rocketmqHome, serverWorkerThreads") == 1
    assert (tmp_path / "kv/kvConfig.json").exists()
