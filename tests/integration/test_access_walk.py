"""A walk over every request code and every port of real processes: nobody, users without the right,
the user with exactly the right and a super user ask; no answer has a secret.

Which right each code needs is tried in the process of the tests, one code at a time
(`tests/unit/service/access/test_request_rights.py`); here it is that every port asks.
"""

import contextlib
import json
import re
import socket
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from aerobee.model.access import Credentials, Rights, Rule, User
from aerobee.protocol.bodies.access import encode_rights, encode_user
from aerobee.protocol.grpc.calls import SERVICE, StatusResponse
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.wire import decode as decode_call
from aerobee.protocol.grpc.wire import encode as encode_call
from aerobee.protocol.http2.frames import DATA, END_STREAM
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.protocol.remoting.signature import sign_fields
from aerobee.raft.frames import Hello, encode_frame
from aerobee.service.access.link_proof import link_proof
from tests.access_kit import is_refused
from tests.access_samples import (
    BESIDE,
    INNER_ONLY,
    ORDERS,
    Sample,
    broker_samples,
    grpc_samples,
    nameserver_samples,
    rules_for,
)
from tests.broker_kit import create_fields
from tests.console_kit import ConsoleClient
from tests.grpc_kit import signed_by
from tests.http2_kit import HELLO, frames_in, headers_in, unary
from tests.interop.replication.brokers import steady_port
from tests.process_kit import SECONDS_MAX, Started, listening_ports
from tests.wire_client import WireClient

SECRETS = {
    name: f"{name}-planted-secret" for name in ("root", "inner", "without", "beside", "exactly")
}
SLOWED = 215
SETTINGS = {
    "AUTHENTICATION_ENABLED": "true",
    "AUTHORIZATION_ENABLED": "true",
    "INIT_AUTHENTICATION_USER": f'{{"username":"root","password":"{SECRETS["root"]}"}}',
    "INNER_CLIENT_AUTHENTICATION_CREDENTIALS": (
        f'{{"accessKey":"inner","secretKey":"{SECRETS["inner"]}"}}'
    ),
    "METRICS_EXPORTER_TYPE": "PROM",
    "METRICS_PROM_EXPORTER_PORT": "0",
}
SMALL = {
    "GRPC_SERVER_PORT": "0",
    "MAPPED_FILE_SIZE_COMMIT_LOG": "4194304",
    "MAPPED_FILE_SIZE_CONSUME_QUEUE": "20000",
    "MAX_HASH_SLOT_NUM": "1000",
    "MAX_INDEX_NUM": "4000",
    "TIMER_WHEEL_ENABLE": "false",
}
"""Files that are quickly read through."""


class Asker:
    """One user on one connection; all that is answered is searched for secrets."""

    def __init__(self, port: int, name: str | None) -> None:
        self._client = WireClient(port)
        self._name = name
        self._opaque = 0

    def ask(
        self, code: int, fields: Mapping[str, str] | None = None, body: bytes = b""
    ) -> RemotingCommand:
        said = dict(fields or {})
        if self._name is not None:
            login = Credentials(self._name, SECRETS.get(self._name, "a guess"))
            sign_fields(said, body, login)
        self._opaque += 1
        command = RemotingCommand(code, opaque=self._opaque, ext_fields=said, body=body)
        self._client.write(b"".join(encode(command)))
        while True:
            answer = self._client.read()
            assert answer is not None, code
            # A broker also tells consumers when members of their group come and go.
            if answer.is_response and answer.opaque == self._opaque:
                break
        shown = f"{answer.remark}{answer.ext_fields}{bytes(answer.body)!r}"
        assert not any(secret in shown for secret in SECRETS.values()), code
        return answer

    def passes(self, code: int, sample: Sample) -> bool:
        answer = self.ask(code, sample.fields, sample.body)
        return not is_refused(answer) and not (answer.code == SLOWED and "log-ins" in answer.remark)

    def close(self) -> None:
        self._client.close()


class Caller:
    """One user on one connection of gRPC; all that is answered is searched for secrets."""

    def __init__(self, port: int, name: str | None) -> None:
        self._line = socket.create_connection(("127.0.0.1", port), SECONDS_MAX)
        self._line.sendall(HELLO)
        self._heard = b""
        self._stream = -1
        said = {"x-mq-client-id": f"client of {name}"}
        if name is not None:
            said |= signed_by(name, SECRETS.get(name, "a guess"))
        self._said = tuple(said.items())

    def passes(self, method: str, request: object) -> bool:
        """Whether a call is let in."""
        self._stream += 2
        self._line.sendall(unary(self._stream, SERVICE + method, encode_call(request), *self._said))
        while True:
            mine = [one for one in frames_in(self._heard) if one.stream == self._stream]
            if any(one.flags & END_STREAM for one in mine):
                break
            data = self._line.recv(65_536)
            assert data, method
            self._heard += data
        assert not any(secret.encode() in self._heard for secret in SECRETS.values()), method
        answers = [one.payload for one in mine if one.kind == DATA]
        if not answers:  # a stream that is over before it was answered, or was refused
            return headers_in(frames_in(self._heard), self._stream)[-1]["grpc-status"] == "0"
        status = decode_call(StatusResponse, answers[0][5:]).status
        assert status is not None
        # FORBIDDEN: known only when a broker has told which message is meant.
        refusals = (GrpcCode.UNAUTHORIZED, GrpcCode.FORBIDDEN, GrpcCode.TOO_MANY_REQUESTS)
        return status.code not in refusals

    def close(self) -> None:
        self._line.close()


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, int]]:
    """The ports of a name server, a broker, the one member of a Raft group, a proxy and a console;
    afterwards nothing that they said or wrote has a secret."""
    home = tmp_path_factory.mktemp("walk")
    names = {f"AEROBEE_NAMESRV_{key}": text for key, text in SETTINGS.items()}
    with (
        contextlib.ExitStack() as stack,
        Started(home, "nameserver", "start", "--port", "0", **names) as nameserver,
    ):
        ports = nameserver.ports()
        found = {"nameserver": ports["nameserver"], "nameserver metrics": ports["metrics"]}
        brokers = {f"AEROBEE_BROKER_{key}": text for key, text in (SETTINGS | SMALL).items()}
        words = ("broker", "start", "--port", "0", "--store", str(home / "store"))
        where = ("-n", f"127.0.0.1:{ports['nameserver']}")
        with Started(home, *words, *where, **brokers) as broker:
            ports = broker.ports()
            found["broker metrics"] = ports["metrics"]
            found["broker"], found["fast"] = ports["broker"], ports["broker"] - 2
            found["gRPC"] = ports["gRPC"]
            # The port after the broker's, or another one if that was taken.
            (found["ha"],) = listening_ports(broker.process.pid) - set(found.values())
            prepare(found["broker"])
            at = steady_port()
            group = {
                "ENABLE_DLEGER_COMMIT_LOG": "true",
                "D_LEGER_PEERS": f"n0-127.0.0.1:{at + 1}",
                "D_LEGER_SELF_ID": "n0",
            }
            members = {f"AEROBEE_BROKER_{key}": text for key, text in group.items()}
            flags = ("--port", str(at), "--store", str(home / "member"))
            started = Started(home, "broker", "start", *flags, **(brokers | members))
            member = stack.enter_context(started)
            ports = member.ports()
            found |= {"member": at, "Raft": at + 1}
            found["member metrics"], found["member gRPC"] = ports["metrics"], ports["gRPC"]
            prepare(at)
            target = f"rmq://root:{SECRETS['root']}@{where[1]}"
            flags = ("--port", "0", "--data", str(home / "console"))
            told = {"LOGIN_REQUIRED": "true", "LOGIN_USERS": "cluster"}
            told = {f"AEROBEE_CONSOLE_{key}": text for key, text in told.items()}
            console = stack.enter_context(Started(home, "console", "-n", target, *flags, **told))
            (found["console"],) = console.ports().values()
            proxies = {f"AEROBEE_PROXY_{key}": text for key, text in SETTINGS.items()}
            with Started(home, "proxy", "start", "--port", "0", *where, **proxies) as proxy:
                ports = proxy.ports()
                found["proxy"], found["proxy metrics"] = ports["proxy"], ports["metrics"]
                yield found
                said = [one.stop() for one in (console, proxy, member, broker, nameserver)]
    assert [status for status, _, _ in said] == [0] * 5
    for secret in SECRETS.values():
        assert secret not in str(said)
        for path in home.rglob("*"):
            assert not path.is_file() or secret.encode() not in path.read_bytes(), path


def prepare(port: int) -> None:
    end = time.monotonic() + SECONDS_MAX
    while not is_ready(port):
        assert time.monotonic() < end
    root = Asker(port, "root")
    for name in ("without", "beside", "exactly"):
        user = encode_user(User(name, SECRETS[name], "Normal"))
        assert root.ask(3001, {"username": name}, user).code == 0
    set_rules(root, "beside", *BESIDE)
    root.close()


def is_ready(port: int) -> bool:
    """Whether a topic is made: a member of a group does not lead at once, and begins anew when it
    does."""
    login = Credentials("root", SECRETS["root"])
    try:
        with WireClient(port, login=login) as client:
            return client.ask(17, create_fields(ORDERS)).code == 0
    except (AssertionError, OSError):
        return False


def set_rules(root: Asker, name: str, *rules: Rule) -> None:
    root.ask(3008, {"subject": f"User:{name}"})
    if rules:
        body = encode_rights(Rights(f"User:{name}", rules))
        assert root.ask(3006, {"subject": f"User:{name}"}, body).code == 0


def sent_place(port: int) -> int:
    """The log offset of a message of Orders."""
    root = Asker(port, "root")
    fields = {"a": "p", "b": "Orders", "e": "0", "f": "0", "g": "1", "h": "0", "i": "UNIQ_KEY\1id"}
    answer = root.ask(310, fields, b"body")
    root.close()
    return int(answer.ext_fields["msgId"][16:], 16)


@pytest.mark.parametrize("door", ["broker", "fast", "member"])
def test_every_request_to_a_broker_needs_its_right(servers: dict[str, int], door: str) -> None:
    port = servers[door]
    samples = broker_samples(sent_place(port))
    root = Asker(port, "root")
    askers = {name: Asker(port, name) for name in (None, "without", "beside", "exactly")}
    for code, sample in sorted(samples.items()):
        is_inner = (INNER_ONLY, "") in sample.rules
        exactly = [Rule("*", ("All",))] if is_inner else rules_for(sample.rules)
        set_rules(root, "exactly", *exactly)
        passed = [name for name, asker in askers.items() if asker.passes(code, sample)]
        assert passed == ([] if is_inner else ["exactly"]), code
        assert root.passes(code, sample), code
        # What a super user deletes is made again for the next.
        root.ask(17, create_fields(ORDERS))
    for asker in (root, *askers.values()):
        asker.close()


def test_every_request_to_a_name_server_needs_its_right(servers: dict[str, int]) -> None:
    port = servers["nameserver"]
    root = Asker(port, "root")
    samples = nameserver_samples()
    broker = Asker(servers["broker"], "root")
    wanted = {rule for sample in samples.values() for rule in sample.rules}
    set_rules(broker, "exactly", *rules_for(tuple(wanted)))
    askers = {name: Asker(port, name) for name in (None, "without", "beside", "exactly")}
    end = time.monotonic() + SECONDS_MAX
    while not askers["exactly"].passes(105, samples[105]):  # it hears of rules a moment later
        assert time.monotonic() < end
    for code, sample in sorted(samples.items()):
        is_inner = (INNER_ONLY, "") in sample.rules
        passed = [name for name, asker in askers.items() if asker.passes(code, sample)]
        assert passed == ([] if is_inner else ["exactly"]), code
        assert root.passes(code, sample), code
    for asker in (root, broker, *askers.values()):
        asker.close()


@pytest.mark.parametrize("port", ["ha", "Raft"])
def test_no_log_is_sent_to_whom_proves_nothing(servers: dict[str, int], port: str) -> None:
    said = bytes(8) if port == "ha" else encode_frame(Hello(1, "broker-a"))
    with socket.create_connection(("127.0.0.1", servers[port]), SECONDS_MAX) as link:
        link.sendall(said)
        with contextlib.suppress(ConnectionResetError):  # it is closed with these bytes unread
            assert link.recv(1) == b""


def test_a_member_of_a_group_speaks_to_whom_has_proved_to_be_one(tmp_path: Path) -> None:
    port = steady_port()
    settings = {
        **SETTINGS,
        **SMALL,
        "ENABLE_DLEGER_COMMIT_LOG": "true",
        "D_LEGER_PEERS": f"n0-127.0.0.1:{port + 1};n1-127.0.0.1:1",
        "D_LEGER_SELF_ID": "n0",
    }
    told = {f"AEROBEE_BROKER_{key}": text for key, text in settings.items()}
    words = ("broker", "start", "--port", str(port), "--store", str(tmp_path / "store"))
    hello = encode_frame(Hello(1, "broker-a"))
    now_ms = time.time_ns() // 1_000_000
    inner, guess = Credentials("inner", SECRETS["inner"]), Credentials("inner", "a guess")

    def heard(*said: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", port + 1), SECONDS_MAX) as link:
            link.sendall(b"".join(said))
            with contextlib.suppress(ConnectionResetError):
                return link.recv(1)
        return b""

    with Started(tmp_path, *words, **told) as broker:
        broker.ports()
        proof = link_proof(inner, "broker-a", now_ms)
        assert heard(hello) == b""
        assert heard(link_proof(guess, "broker-a", now_ms), hello) == b""
        assert heard(link_proof(inner, "broker-b", now_ms), hello) == b""
        assert heard(proof, hello) != b""
        assert heard(proof, hello) == b""  # it was recorded, and is said again


def test_every_call_of_grpc_needs_its_right(servers: dict[str, int]) -> None:
    root = Asker(servers["broker"], "root")
    place, now_ms = sent_place(servers["broker"]), time.time_ns() // 1_000_000
    names = ("without", "beside", "exactly", "root")
    callers = {name: Caller(servers["gRPC"], name) for name in names}
    for method, (request, rules) in grpc_samples(place, now_ms).items():
        set_rules(root, "exactly", *rules_for(rules))
        passed = [name for name, caller in callers.items() if caller.passes(method, request)]
        # Who has announced nothing is told that, and no more.
        alone = method in ("Heartbeat", "NotifyClientTermination")
        assert passed == ([*names] if alone else ["exactly", "root"]), method
    root.close()
    for caller in callers.values():
        caller.close()


PAGES = ["broker metrics", "member metrics", "nameserver metrics", "proxy metrics"]


@pytest.mark.parametrize("page", PAGES)
def test_metrics_are_shown_to_whom_may_see_the_cluster(servers: dict[str, int], page: str) -> None:
    def status(path: str, name: str = "", secret: str = "") -> int:
        asking = HTTPConnection("127.0.0.1", servers[page], timeout=SECONDS_MAX)
        login = b64encode(f"{name}:{secret}".encode()).decode()
        asking.request("GET", path, headers={"Authorization": f"Basic {login}"} if name else {})
        answer = asking.getresponse()
        text = answer.read().decode()
        asking.close()
        assert not any(planted in text for planted in SECRETS.values())
        return answer.status

    assert status("/metrics") == 401
    assert status("/metrics", "without", SECRETS["without"]) == 401
    assert status("/metrics", "root", "a guess") == 401
    assert status("/metrics", "root", SECRETS["root"]) == 200
    assert status("/healthz") == 200


def test_no_page_of_the_console_has_a_secret(servers: dict[str, int]) -> None:
    """All that can be looked at, by the user who may look at everything; nobody sees any of it."""
    nobody, root = (ConsoleClient(f"127.0.0.1:{servers['console']}") for _ in range(2))
    assert nobody.log_in("without", SECRETS["without"]).code == "wrong_login"
    assert root.log_in("root", SECRETS["root"]).status == 200
    paths = root.get("/api")["paths"]
    names = {"topic": "Orders", "group": "g", "broker": "broker-a", "user": "beside"}
    asked = 0
    for path, methods in paths.items():
        if "x-role" not in methods.get("get", {}) or is_stream(methods["get"]):
            continue
        place = re.sub(r"\{(\w+)\}", lambda found: names.get(found[1], "x"), path)
        assert nobody.ask("GET", place).code == "login_needed", path
        answer = root.ask("GET", place)
        text = f"{answer.headers}{answer.body.decode(errors='replace')}"
        assert not any(secret in text for secret in SECRETS.values()), path
        asked += answer.status == 200
    assert asked > 15


def is_stream(told: dict[str, Any]) -> bool:
    """Whether an answer does not come to an end."""
    return "text/event-stream" in json.dumps(told.get("responses", {}))


def test_a_proxy_asks_for_the_rights_that_the_broker_gives(servers: dict[str, int]) -> None:
    place, now_ms = sent_place(servers["broker"]), time.time_ns() // 1_000_000
    calls = {method: request for method, (request, _) in grpc_samples(place, now_ms).items()}
    # A stream that its client ends at once is over before the names in it have been looked up.
    del calls["Telemetry"]
    # Root is first: ten wrong guesses in a second slow down every user of the address.
    for name, allowed in (
        ("root", [*calls]),
        ("without", ["Heartbeat", "NotifyClientTermination"]),
        (None, []),
    ):
        caller = Caller(servers["proxy"], name)
        assert [one for one in calls if caller.passes(one, calls[one])] == allowed, name
        caller.close()


@pytest.mark.parametrize("name", [None, "stranger"])
@pytest.mark.parametrize("door", ["gRPC", "member gRPC"])
def test_a_stranger_calls_nothing(servers: dict[str, int], door: str, name: str | None) -> None:
    stranger = Caller(servers[door], name)
    for method, (request, _) in grpc_samples(0, 0).items():
        assert not stranger.passes(method, request), method
    stranger.close()


@pytest.mark.parametrize("door", ["broker", "fast", "member", "nameserver"])
def test_a_stranger_gets_nothing(servers: dict[str, int], door: str) -> None:
    """Last: whoever guesses slows down others of its address."""
    samples = nameserver_samples() if door == "nameserver" else broker_samples(0)
    stranger = Asker(servers[door], "stranger")
    assert [code for code, sample in samples.items() if stranger.passes(code, sample)] == []
    stranger.close()
