"""Strangers at every port of servers that ask for users: crowds that say nothing, claims of much,
requests that were recorded, words that do not come to an end. Somebody who may is served all the
while.
"""

import contextlib
import hmac
import itertools
import re
import select
import struct
import time
from base64 import b64encode
from collections.abc import Iterator

import pytest

from aerobee.model.access import Credentials
from aerobee.protocol.http2.frames import DATA, HEADERS, frame
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.protocol.remoting.signature import STAMP, sign_fields
from aerobee.service.access.link_proof import MARK, link_proof
from tests.fleet_kit import PORTS, Fleet, greeting, running_fleet
from tests.hostile.raw import PATIENCE_S, connect, crowd, rest_of
from tests.hostile.server import MIB, send_fields
from tests.http2_kit import HELLO, open_stream
from tests.wire_client import WireClient

ROOT = Credentials("root", "root-secret")
INNER = Credentials("inner", "inner-secret")
SETTINGS = {
    "AUTHENTICATION_ENABLED": "true",
    "AUTHORIZATION_ENABLED": "true",
    "INIT_AUTHENTICATION_USER": '{"username":"root","password":"root-secret"}',
    "INNER_CLIENT_AUTHENTICATION_CREDENTIALS": '{"accessKey":"inner","secretKey":"inner-secret"}',
}
MANY = 300
MANY_OF_PAGES = 60
"""Of ports whose backlog is short: twice as many as are served at once."""
GROWN_BYTES_MAX = 96 * MIB
REMOTING = ("name server", "broker", "fast port")
GRPC = ("gRPC", "proxy")
LINKS = ("HA", "Raft")
PAGES = ("name server metrics", "broker metrics", "proxy metrics")
senders = itertools.count()


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    def settings(name: str) -> dict[str, str]:
        if name == "console":
            return {"LOGIN_REQUIRED": "true", "LOGIN_USERS": "cluster"}
        return SETTINGS

    def target(port: int) -> str:
        return f"rmq://root:root-secret@127.0.0.1:{port}"

    with running_fleet(tmp_path_factory.mktemp("strangers"), settings, target) as running:
        with WireClient(running.ports["broker"], login=ROOT) as client:
            fields = {name: text for name, text in send_fields("TBW102").items() if text}
            assert client.ask(310, fields | {"b": "Known"}, b"x").code == 0
        yield running


def many(port: str) -> int:
    return MANY_OF_PAGES if port in PAGES else MANY


def proof(sender: str = "") -> bytes:
    said = sender or f"test:{next(senders)}"
    return link_proof(INNER, "broker-a", time.time_ns() // 1_000_000, said)


def assert_served(fleet: Fleet, port: str) -> None:
    """Whoever may come in is answered."""
    at = fleet.ports[port]
    if port in REMOTING:
        with WireClient(at, login=ROOT) as client:
            answer = client.ask(105, {"topic": "Known"})
            assert answer.code != 16, answer.remark
        return
    login = b64encode(b"root:root-secret").decode()
    words = {
        **dict.fromkeys(GRPC, HELLO),
        **dict.fromkeys(
            PAGES,
            f"GET /metrics HTTP/1.1\r\nAuthorization: Basic {login}\r\n\r\n".encode(),
        ),
        "HA": proof() + bytes(8),
        "Raft": proof() + greeting("Raft"),
        "console": greeting("console"),
    }
    with connect(at) as one:
        one.sendall(words[port])
        answered = one.recv(1000)
    assert answered, fleet.log(port)[-2000:]
    assert port not in PAGES or b" 200 " in answered
    assert b" 503 " not in answered


@pytest.mark.parametrize("port", PORTS)
def test_a_crowd_that_says_nothing_locks_nobody_out(fleet: Fleet, port: str) -> None:
    with crowd(fleet.ports[port], many(port)):
        assert_served(fleet, port)
    assert_served(fleet, port)


@pytest.mark.parametrize("port", PORTS)
def test_a_crowd_that_has_said_half_locks_nobody_out(fleet: Fleet, port: str) -> None:
    said = greeting(port)
    if port in LINKS:
        said = proof()[:20]
    with crowd(fleet.ports[port], many(port), said[: len(said) // 2]):
        assert_served(fleet, port)
    assert_served(fleet, port)


CLAIMS = {
    **dict.fromkeys(REMOTING, struct.pack(">iI", 16 * MIB - 4, 100) + bytes(70_000)),
    **dict.fromkeys(
        GRPC,
        HELLO
        + open_stream(1, "/apache.rocketmq.v2.MessagingService/SendMessage")
        + frame(DATA, 0, 1, struct.pack(">BI", 0, 4 * MIB) + bytes(16_000)) * 4,
    ),
    **dict.fromkeys(LINKS, struct.pack(">qH", MARK, 65_535) + bytes(2_000)),
    **dict.fromkeys((*PAGES, "console"), b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 12_000),
}
"""Of something large, a little more than a stranger may keep."""


@pytest.mark.parametrize("port", PORTS)
def test_what_a_stranger_claims_to_send_is_given_no_room(fleet: Fleet, port: str) -> None:
    server = fleet.servers[PORTS[port]]
    before = server.resident_bytes()
    with contextlib.ExitStack() as stack:
        for _ in range(many(port)):
            one = stack.enter_context(connect(fleet.ports[port]))
            with contextlib.suppress(ConnectionError):
                one.sendall(CLAIMS[port])
        assert_served(fleet, port)
        grown = server.resident_bytes() - before
    assert grown < GROWN_BYTES_MAX, f"{grown >> 20} MiB more"
    assert_served(fleet, port)


@pytest.mark.parametrize("port", [*GRPC, *LINKS, *PAGES, "console"])
def test_one_word_that_is_too_long_ends_its_connection(fleet: Fleet, port: str) -> None:
    words = dict(CLAIMS) | dict.fromkeys(
        GRPC, HELLO + frame(HEADERS, 0, 1, b"\x40\x01a\x7f\xff\xff\xff\x07" + bytes(16_000)) * 8
    )
    with connect(fleet.ports[port]) as one:
        with contextlib.suppress(ConnectionError):
            one.sendall(words[port])
        rest_of(one)  # it ends
    assert_served(fleet, port)


@pytest.mark.parametrize("port", REMOTING)
def test_a_recorded_request_is_refused_on_every_connection(fleet: Fleet, port: str) -> None:
    fields = {"topic": "Known", STAMP: f"105.{time.time_ns() // 1_000_000}.{next(senders) + 1}.1"}
    sign_fields(fields, b"", ROOT)
    recorded = b"".join(encode(RemotingCommand(105, opaque=1, ext_fields=fields)))
    answers = []
    with WireClient(fleet.ports[port]) as first, WireClient(fleet.ports[port]) as other:
        for client in (first, first, other):
            client.write(recorded)
            answer = client.read()
            assert answer is not None
            answers.append((answer.code == 16, "was used before" in answer.remark))
    assert answers == [(False, False), (True, True), (True, True)]


@pytest.mark.parametrize("port", LINKS)
def test_a_recorded_proof_opens_no_second_link(fleet: Fleet, port: str) -> None:
    said = proof() + (bytes(8) if port == "HA" else greeting(port))
    with connect(fleet.ports[port]) as first, connect(fleet.ports[port]) as other:
        first.sendall(said)
        assert first.recv(1)
        other.sendall(said)
        assert rest_of(other) == b""


@pytest.mark.parametrize("port", [*REMOTING, *GRPC, *PAGES])
def test_an_unknown_user_and_a_wrong_secret_are_answered_alike(fleet: Fleet, port: str) -> None:
    said = {name: refusal(fleet.ports[port], port, name) for name in ("root", "nobody")}
    assert said["root"] == said["nobody"] != b""


def refusal(at: int, port: str, name: str) -> bytes:
    """The answer to a guessed secret, without what tells one answer from another by nature."""
    if port in REMOTING:
        with WireClient(at, login=Credentials(name, "a guess")) as client:
            answer = client.ask(105, {"topic": "Known"})
            return f"{answer.code} {answer.remark}".encode().replace(name.encode(), b"")
    with connect(at) as one:
        if port in PAGES:
            login = b64encode(f"{name}:a guess".encode()).decode()
            one.sendall(f"GET /metrics HTTP/1.1\r\nAuthorization: Basic {login}\r\n\r\n".encode())
            return rest_of(one)
        date = "20260102T030405Z"
        digest = hmac.digest(b"a guess", date.encode(), "sha1").hex()
        text = f"MQv2-HMAC-SHA1 Credential={name}, SignedHeaders=x-mq-date-time, Signature={digest}"
        path = "/apache.rocketmq.v2.MessagingService/QueryRoute"
        more = (("authorization", text), ("x-mq-date-time", date))
        one.sendall(HELLO + open_stream(1, path, *more, flags=1))
        heard = b""
        while select.select([one], [], [], 1.0 if heard else PATIENCE_S)[0]:
            heard += one.recv(65_536)
        return re.sub(rb"[0-9]{10,}", b"", heard)


@pytest.mark.night
@pytest.mark.timeout(300)
def test_words_that_do_not_come_to_an_end_are_not_waited_for(fleet: Fleet) -> None:
    with contextlib.ExitStack() as stack:
        held = {}
        for port in PORTS:
            said = CLAIMS[port][:66_000] if port in (*REMOTING, *GRPC) else greeting(port)[:5]
            held[port] = stack.enter_context(connect(fleet.ports[port]))
            with contextlib.suppress(ConnectionError):
                held[port].sendall(said)
        for one in held.values():
            rest_of(one)  # PATIENCE_S is longer than any of them is waited for
    for port in PORTS:
        assert_served(fleet, port)


def test_nothing_was_a_fault_of_the_servers(fleet: Fleet) -> None:
    """Last: after all of the above."""
    for server in fleet.servers.values():
        assert server.is_alive()
        for complaint in ("Traceback", "a handler failed", "a tick failed", "internal error"):
            assert complaint not in server.log(), server.log()[-4000:]
