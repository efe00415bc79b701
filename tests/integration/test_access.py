"""Integration tests of a name server and a broker, as processes, that ask who sends a request."""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import aerobee
from aerobee.errors import AerobeeError, TopicNotFound
from aerobee.model.access import Rights, Rule, User
from tests.cli_kit import aerobee_here
from tests.process_kit import Started

SECRETS = ("root-hidden", "inner-hidden", "alice-hidden")
ROOT = '{"username":"root","password":"root-hidden"}'
INNER = '{"accessKey":"inner","secretKey":"inner-hidden"}'
ACCESS = {
    f"AEROBEE_{part}_{name}": text
    for part in ("BROKER", "NAMESRV")
    for name, text in (
        ("AUTHENTICATION_ENABLED", "true"),
        ("AUTHORIZATION_ENABLED", "true"),
        ("INIT_AUTHENTICATION_USER", ROOT),
        ("INNER_CLIENT_AUTHENTICATION_CREDENTIALS", INNER),
    )
}
KNOWN_SECONDS_MAX = 20


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Of the name server; afterwards, no secret is found in what the process left."""
    store = tmp_path / "up"
    words = ("up", "--store", str(store), "--port", "0", "--nameserver-port", "0")
    with Started(tmp_path, *words, **ACCESS) as process:
        yield f"127.0.0.1:{process.ports()['nameserver']}"
        status, out, error = process.stop()
    assert status == 0
    for secret in SECRETS:
        assert secret not in out + error
        for path in store.rglob("*"):
            assert not path.is_file() or secret.encode() not in path.read_bytes(), path


def connect(address: str, login: str = "") -> aerobee.Client:
    return aerobee.connect(f"rmq://{login}@{address}" if login else address, timeout=20)


async def until_known(client: aerobee.Client, topic: str) -> None:
    """Name servers hear of users a moment after brokers."""
    async with asyncio.timeout(KNOWN_SECONDS_MAX):
        while True:
            with contextlib.suppress(AerobeeError):
                await client.send(topic, b"first")
                return


def audited(store: Path) -> set[tuple[str, ...]]:
    """What the audit trails of the broker and the name server have."""
    return {
        tuple(one[key] for key in ("server", "user", "request", "decision"))
        for folder in store.rglob("audit")
        for one in aerobee_here("audit", "search", "--dir", str(folder), "-o", "json").records
    }


def test_only_users_with_the_right_get_in(address: str, tmp_path: Path) -> None:
    async def whole() -> None:
        async with connect(address, "root:root-hidden") as root:
            await root.admin.topics.create("Orders", queues=1)
            await root.admin.access.create_user(User("alice", "alice-hidden"))
            rules = (Rule("Topic:Orders", ("Pub", "Sub")), Rule("Group:billing", ("Sub",)))
            await root.admin.access.create_rights(Rights("User:alice", rules))
            async with connect(address, "alice:alice-hidden") as alice:
                await until_known(alice, "Orders")
                await alice.send("Orders", b"second")
                async with alice.consumer("Orders", group="billing", start="earliest") as messages:
                    async for message in messages:
                        await message.ack()
                        if message.body == b"second":
                            break
                with pytest.raises(AerobeeError):
                    await alice.send("Secrets", b"x")
                with pytest.raises(AerobeeError):
                    await alice.admin.topics.delete("Orders")
                await root.admin.access.delete_rights("User:alice")
                with pytest.raises(AerobeeError):
                    await alice.send("Orders", b"third")
        for login in ("", "alice:guess", "stranger:alice-hidden"):
            async with connect(address, login) as nobody:
                with pytest.raises((AerobeeError, TopicNotFound)):
                    await nobody.send("Orders", b"x")

    asyncio.run(whole())
    wanted = {
        ("broker-a", "root", "AUTH_CREATE_USER", "allow"),
        ("broker-a", "alice", "SEND_MESSAGE_V2", "deny"),
        ("nameserver", "", "GET_ROUTEINFO_BY_TOPIC", "deny"),
        ("nameserver", "stranger", "GET_ROUTEINFO_BY_TOPIC", "deny"),
    }
    end = time.monotonic() + KNOWN_SECONDS_MAX  # it is written a moment later
    while missing := wanted - audited(tmp_path / "up"):
        assert time.monotonic() < end, missing
