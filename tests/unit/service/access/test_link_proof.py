import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.model.access import Credentials
from aerobee.ports.clock import Now
from aerobee.ports.service import LinkId
from aerobee.protocol.bodies.access import UserChange
from aerobee.replication.transfer import ReportReader
from aerobee.service.access.access_store import seeded
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.accounts import Accounts
from aerobee.service.access.link_proof import AGE_MS_MAX, LinkGuard, link_proof
from tests.access_kit import ACCESS, INNER

LINK, OTHER = LinkId(1), LinkId(2)
NOW = Now(1_000_000, 5)
TABLE = seeded(AccessTable(), ACCESS).with_user(UserChange("plain", "plain-secret"), None)


def guard(table: AccessTable = TABLE) -> LinkGuard:
    made = LinkGuard(Accounts(table), "broker-a", INNER)
    made.opened(LINK, "10.0.0.5")
    made.opened(OTHER, "10.0.0.6")
    return made


def proof(login: Credentials = INNER, broker: str = "broker-a", wall_ms: int = 1_000_000) -> bytes:
    return link_proof(login, broker, wall_ms)


def test_what_follows_a_proof_passes_in_every_chunking() -> None:
    data = proof() + b"reports"
    for size in range(1, len(data) + 1):
        checked = guard()
        passed = b""
        for start in range(0, len(data), size):
            passed += bytes(checked.passed(LINK, data[start : start + size], NOW))
        assert passed == b"reports"
        assert checked.passed(LINK, b"more", NOW) == b"more"


@pytest.mark.parametrize(
    "data",
    [
        b"\0" * 8,
        b"\0",
        proof(Credentials("inner", "guess")),
        proof(Credentials("stranger", "")),
        proof(Credentials("plain", "plain-secret")),
        proof(broker="broker-b"),
        proof(wall_ms=NOW.wall_ms - AGE_MS_MAX - 1),
        proof(wall_ms=NOW.wall_ms + AGE_MS_MAX + 1),
        proof()[:8] + b"\xff\xff",
    ],
    ids=["report", "byte", "secret", "stranger", "no broker", "other", "old", "future", "long"],
)
def test_others_get_no_log(data: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        guard().passed(LINK, data, NOW)


def test_every_changed_byte_is_noticed() -> None:
    whole = proof()
    for index in range(len(whole)):
        changed = bytearray(whole)
        changed[index] ^= 1
        with pytest.raises(RemoteProtocolError):
            guard().passed(LINK, bytes(changed) + b"\0" * 1024, NOW)


def test_a_proof_counts_once() -> None:
    checked = guard()
    checked.passed(LINK, proof(), NOW)
    with pytest.raises(RemoteProtocolError, match="used before"):
        checked.passed(OTHER, proof(), NOW)


def test_a_disabled_user_gets_no_log() -> None:
    disabled = TABLE.with_changed_user(UserChange("inner", is_enabled=False), None)
    with pytest.raises(RemoteProtocolError):
        guard(disabled).passed(LINK, proof(), NOW)


def test_the_brokers_own_user_need_not_be_super() -> None:
    lowered = TABLE.with_changed_user(UserChange("inner", kind="Normal"), None)
    assert guard(lowered).passed(LINK, proof() + b"x", NOW) == b"x"


def test_a_master_that_expects_no_proof_closes_the_link() -> None:
    reports = ReportReader()
    reports.receive(proof())
    with pytest.raises(RemoteProtocolError):
        reports.advance()


def test_two_members_may_prove_who_they_are_in_the_same_millisecond() -> None:
    checked = guard()
    for link, sender in ((LINK, "10.0.0.5:10911 1"), (OTHER, "10.0.0.6:10911 1")):
        data = link_proof(INNER, "broker-a", NOW.wall_ms, sender) + b"more"
        assert checked.passed(link, data, NOW) == b"more"


def test_a_proof_of_a_sender_counts_once() -> None:
    checked = guard()
    data = link_proof(INNER, "broker-a", NOW.wall_ms, "10.0.0.5:10911 1")
    assert checked.passed(LINK, data, NOW) == b""
    with pytest.raises(RemoteProtocolError, match="used before"):
        checked.passed(OTHER, data, NOW)
