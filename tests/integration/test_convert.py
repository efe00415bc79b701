"""A real broker's store becomes a group's and a single broker's again, and others read it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aerobee.protocol.message.stored_message import decode_records
from tests.broker_kit import pull_fields
from tests.cli_kit import aerobee_here
from tests.interop.features.waiting import until
from tests.interop.replication.brokers import steady_port
from tests.log_table_kit import rows
from tests.process_kit import SECONDS_MAX, Started
from tests.wire import JAVA_FIELDS
from tests.wire_client import WireClient

SMALL = (
    "mappedFileSizeCommitLog=1048576\nmappedFileSizeConsumeQueue=20000\n"
    "maxHashSlotNum=1000\nmaxIndexNum=4000\nraftElectionTimeout=200\nraftHeartbeatInterval=40\n"
)
SEND = {**JAVA_FIELDS, "e": "0", "i": ""}
TOPIC = JAVA_FIELDS["b"]


@contextmanager
def broker(home: Path, *settings: str) -> Iterator[int]:
    """The port of a broker that runs and is stopped in order."""
    file = home / "broker.conf"
    file.write_text(SMALL + "".join(f"{one}\n" for one in settings))
    with Started(home, "broker", "start", "-c", str(file), "--port", "0") as process:
        yield process.ports()["broker"]
        status, _, error = process.stop()
        assert status == 0, error


def send(port: int, body: bytes) -> None:
    def is_stored() -> bool:
        try:
            with WireClient(port) as client:
                return client.ask(310, SEND, body).code == 0
        except (OSError, AssertionError):  # it is elected, and built anew
            return False

    until(is_stored, SECONDS_MAX, "it is stored")


def bodies(port: int) -> list[bytes]:
    with WireClient(port) as client:
        answer = client.ask(11, pull_fields(suspendTimeoutMillis=0))
    assert answer.code == 0, answer.remark
    return [one.body for one in decode_records(bytes(answer.body))]


def check(store: Path, expected: list[bytes]) -> None:
    """By `store verify`, and as Spark reads a log."""
    said = aerobee_here("store", "verify", str(store))
    assert said.status == 0, said.out + said.error
    found = rows(store, columns="topic,value")
    assert [row["value"] for row in found if row["topic"] == TOPIC] == expected


def test_a_broker_becomes_a_group_and_a_broker_again(tmp_path: Path) -> None:
    store, member = tmp_path / "store", f"n0-127.0.0.1:{steady_port()}"
    with broker(tmp_path) as port:
        send(port, b"single")
        said = aerobee_here("broker", "convert", str(store), "--to", "single", "--yes")
        assert f"a broker has {store}" in said.error
    check(store, [b"single"])

    said = aerobee_here("broker", "convert", str(store), "--to", "group", "--member", member, "-y")
    assert said.status == 0, said.error
    settings = [line for line in said.out.splitlines() if "=" in line and "#" not in line]
    with broker(tmp_path, *settings) as port:
        send(port, b"group")
        assert bodies(port) == [b"single", b"group"]
    check(store, [b"single", b"group"])
    said = aerobee_here("broker", "convert", str(store), "--to", "single", "--yes")
    assert said.status == 0, said.error
    check(store, [b"single", b"group"])
