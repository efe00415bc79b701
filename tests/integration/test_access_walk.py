"""A walk over every request code and every port of real processes: nobody, users without the right,
the user with exactly the right and a super user ask; no answer has a secret.

Which right each code needs is tried in the process of the tests, one code at a time
(`tests/unit/service/access/test_request_rights.py`); here it is that every port asks.
"""

import contextlib
import socket
from base64 import b64encode
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection

import pytest

from aerobee.model.access import Credentials, Rights, Rule, User
from aerobee.protocol.bodies.access import encode_rights, encode_user
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.protocol.remoting.signature import sign_fields
from tests.access_kit import is_refused
from tests.access_samples import (
    BESIDE,
    INNER_ONLY,
    ORDERS,
    Sample,
    broker_samples,
    nameserver_samples,
    rules_for,
)
from tests.broker_kit import create_fields
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


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, int]]:
    """The ports of a name server and a broker; afterwards nothing that they said has a secret."""
    home = tmp_path_factory.mktemp("walk")
    names = {f"AEROBEE_NAMESRV_{key}": text for key, text in SETTINGS.items()}
    with Started(home, "nameserver", "start", "--port", "0", **names) as nameserver:
        ports = nameserver.ports()
        found = {"nameserver": ports["nameserver"], "nameserver metrics": ports["metrics"]}
        brokers = {f"AEROBEE_BROKER_{key}": text for key, text in (SETTINGS | SMALL).items()}
        words = ("broker", "start", "--port", "0", "--store", str(home / "store"))
        where = ("-n", f"127.0.0.1:{ports['nameserver']}")
        with Started(home, *words, *where, **brokers) as broker:
            ports = broker.ports()
            found["broker metrics"] = ports["metrics"]
            found["broker"], found["fast"] = ports["broker"], ports["broker"] - 2
            # The port after the broker's, or another one if that was taken.
            (found["ha"],) = listening_ports(broker.process.pid) - set(found.values())
            prepare(found["broker"])
            yield found
            said = [broker.stop(), nameserver.stop()]
    assert [status for status, _, _ in said] == [0, 0]
    for secret in SECRETS.values():
        assert secret not in str(said)
        for path in home.rglob("*"):
            assert not path.is_file() or secret.encode() not in path.read_bytes(), path


def prepare(port: int) -> None:
    root = Asker(port, "root")
    assert root.ask(17, create_fields(ORDERS)).code == 0
    for name in ("without", "beside", "exactly"):
        user = encode_user(User(name, SECRETS[name], "Normal"))
        assert root.ask(3001, {"username": name}, user).code == 0
    set_rules(root, "beside", *BESIDE)
    root.close()


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


@pytest.mark.parametrize("door", ["broker", "fast"])
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
    askers = {name: Asker(port, name) for name in (None, "without", "beside")}
    for code, sample in sorted(nameserver_samples().items()):
        assert [name for name, asker in askers.items() if asker.passes(code, sample)] == []
        assert root.passes(code, sample), code
    for asker in (root, *askers.values()):
        asker.close()


def test_no_log_is_sent_to_whom_proves_nothing(servers: dict[str, int]) -> None:
    with socket.create_connection(("127.0.0.1", servers["ha"]), SECONDS_MAX) as link:
        link.sendall(bytes(8))
        with contextlib.suppress(ConnectionResetError):  # it is closed with these bytes unread
            assert link.recv(1) == b""


@pytest.mark.parametrize("page", ["broker metrics", "nameserver metrics"])
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


@pytest.mark.parametrize("door", ["broker", "fast", "nameserver"])
def test_a_stranger_gets_nothing(servers: dict[str, int], door: str) -> None:
    """Last: whoever guesses slows down others of its address."""
    samples = nameserver_samples() if door == "nameserver" else broker_samples(0)
    stranger = Asker(servers[door], "stranger")
    assert [code for code, sample in samples.items() if stranger.passes(code, sample)] == []
    stranger.close()
