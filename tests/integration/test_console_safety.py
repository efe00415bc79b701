"""The console's API as a whole: every call of its description, by every role, from everywhere.

What the description lists is crawled, so a new call is in these tests when it exists. The state of
the cluster (settings, topics, groups, offsets, users, rights, every byte of the log) is compared
before and after.
"""

import asyncio
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import pytest

import aerobee
from tests.console_kit import ConsoleClient, guarded_console
from tests.process_kit import SECONDS_MAX

OPERATOR = {
    *("createTopic", "changeTopic", "sendMessage", "createGroup", "changeGroup", "resetOffsets"),
    *("resendMessage", "resendDeadLetters"),
}
"""Changes that an operator may make, by docs/console.md; others are for administrators."""
ADMIN_LOOKS = {"listUsers", "listRights", "can", "listActions"}
EVERYBODY = {"session", "logIn", "logOut", "describe"}
USERS = {"viewer": "carol", "operator": "dave", "admin": "root"}
GIVEN: dict[str, list[object]] = {
    "topic": ["orders", "absent", "%RETRY%billing"],
    "group": ["billing", "absent"],
    "name": ["broker-a", "absent"],
    "client_id": ["absent"],
    "series": ["cluster.in", "group.billing.lag,topic.orders.messages"],
    "sort": ["-name", "name"],
    "sql": ["n > 1"],
    "regex": ["o.*"],
    "user": ["carol"],
    "action": ["Sub"],
    "resource": ["Topic:orders"],
    "span": ["1h"],
    "range": ["1h"],
    "broker": ["broker-a"],
}
BODIES: dict[str, dict[str, object]] = {
    "createTopic": {"name": "made"},
    "changeTopic": {"queues": 8},
    "deleteTopic": {"confirm": "orders"},
    "sendMessage": {"body": "made"},
    "createGroup": {"name": "made"},
    "changeGroup": {"retry_max": 1},
    "deleteGroup": {"confirm": "billing"},
    "resetOffsets": {"topic": "orders", "to": "earliest"},
    "resendMessage": {"to": "orders"},
    "resendDeadLetters": {"confirm": "billing"},
    "changeBroker": {"settings": {"transactionCheckMax": "3"}, "confirm": "broker-a"},
    "allowWrites": {"allowed": False, "confirm": "broker-a"},
    "transferLeadership": {"confirm": "broker-a"},
    "createUser": {"name": "mallory", "password": "a-long-secret", "kind": "Super"},
    "changeUser": {"kind": "Super"},
    "deleteUser": {"confirm": "carol"},
    "putRight": {"user": "carol", "resource": "Topic:*", "actions": ["All"]},
    "deleteRight": {"user": "carol", "resource": "Topic:orders", "confirm": "carol"},
    "startBench": {"duration": 1},
}
IN_PATH = {"topic": "orders", "group": "billing", "name": "broker-a", "id": "x"}


class Call(NamedTuple):
    """One operation of the description."""

    name: str
    method: str
    path: str
    told: dict[str, Any]

    @property
    def is_stream(self) -> bool:
        return "text/event-stream" in self.told["responses"]["200"]["content"]

    def filled(self, console: ConsoleClient) -> str:
        """Its path, of things that exist."""
        names = {**IN_PATH, "name": "carol"} if "/users/" in self.path else IN_PATH
        return self.path.format(**{one: names.get(one, "x") for one in _in_path(self)})


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleClient]:
    """Of a cluster with users, a topic and a group that has read some of it; root has logged in."""
    with guarded_console(tmp_path_factory.mktemp("guarded")) as console:
        asyncio.run(_fill(console.name_server))
        assert console.change("PUT", "/api/rights", BODIES["putRight"]).status == 200
        yield console


async def _fill(target: str) -> None:
    async with aerobee.connect(target) as client:
        await client.admin.topics.create("orders", queues=2)
        for number in range(6):
            await client.send("orders", f"{number}", tag="new", keys=["k"], headers={"n": "1"})
        message = await client.receive("orders", group="billing")
        await message.ack()


def calls(console: ConsoleClient) -> list[Call]:
    return [
        Call(told["operationId"], method.upper(), path, told)
        for path, methods in console.get("/api")["paths"].items()
        for method, told in methods.items()
    ]


def changes(console: ConsoleClient) -> list[Call]:
    return [one for one in calls(console) if one.method != "GET"]


def state_of(console: ConsoleClient) -> dict[str, Any]:
    return asyncio.run(_state_of(console.name_server))


async def _state_of(target: str) -> dict[str, Any]:
    async with aerobee.admin(target) as admin:
        topics = await admin.topics.configs()
        groups = await admin.groups.configs()
        topic_names = {one.name for told in topics.values() for one in told}
        group_names = {one.name for told in groups.values() for one in told}
        runtime = await admin.brokers.runtime()
        return {
            "topics": {at: sorted(map(repr, told)) for at, told in topics.items()},
            "groups": {at: sorted(map(repr, told)) for at, told in groups.items()},
            "queues": {one: (await admin.topics.stats(one)).queues for one in sorted(topic_names)},
            "offsets": {one: (await admin.groups.progress(one)).queues for one in group_names},
            "settings": await admin.brokers.config(),
            "users": await admin.access.users(),
            "rights": await admin.access.rights_of_all(),
            "logs": {at: (told.log_start, told.log_end) for at, told in runtime.items()},
            "brokers": {one.name: one.addresses for one in (await admin.cluster()).brokers},
        }


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[object, ...]]:
    return [
        (part, key, before[part].get(key), told.get(key))
        for part, told in after.items()
        for key in before[part].keys() | told.keys()
        if before[part].get(key) != told.get(key)
    ]


def test_no_get_changes_anything(guarded: ConsoleClient) -> None:
    """Every call that looks, with every parameter, of things that exist and that do not; and paths
    of changes, asked by GET."""
    ids = [row["id"] for row in guarded.get("/api/messages?topic=orders&limit=2")["rows"]]
    before, users = state_of(guarded), guarded.get("/api/users")["rows"]
    bench, audit = guarded.get("/api/bench")["rows"], guarded.get("/api/audit")["total"]
    answered: dict[str, set[int]] = {}
    for call in calls(guarded):
        if call.method != "GET":
            status = guarded.ask("GET", call.filled(guarded)).status
            assert status in (200, 404, 405), call.name
            continue
        for path in asked_in_many_ways(call, {**GIVEN, "id": [*ids, "absent"]}):
            told = status_of(guarded, path)
            answered.setdefault(call.name, set()).add(told)
            assert told < 500 or told in (501, 502, 504), path
        assert guarded.ask("HEAD", call.filled(guarded)).status < 500
    assert len(answered) > 35
    silent = {name for name, statuses in answered.items() if 200 not in statuses}
    assert silent <= {"showMember", "showClient", "showBench", "explainMessage", "traceMessage"}
    assert differences(before, state_of(guarded)) == []
    assert guarded.get("/api/users")["rows"] == users
    assert guarded.get("/api/bench")["rows"] == bench
    assert guarded.get("/api/audit")["total"] == audit


def asked_in_many_ways(call: Call, given: dict[str, list[object]]) -> Iterator[str]:
    """Paths with as little as possible, of each thing, and then with each other parameter."""
    schemas = {one["name"]: one for one in call.told["parameters"]}
    values = {name: given.get(name) or _values(one["schema"]) for name, one in schemas.items()}
    needed = [name for name, one in schemas.items() if one["required"]]
    for number in range(max([1, *(len(values[name]) for name in needed)])):
        chosen = {name: values[name][number % len(values[name])] for name in needed}
        yield _path_of(call, chosen)
        for name in schemas.keys() - set(needed):
            for value in values[name]:
                yield _path_of(call, {**chosen, name: value})


def _values(schema: dict[str, Any]) -> list[object]:
    if "enum" in schema:
        return list(schema["enum"])
    samples: dict[str, list[object]] = {
        "integer": [schema.get("minimum", 1) or 1, min(schema.get("maximum", 100), 1000)],
        "number": [1],
        "boolean": ["true"],
        "array": ["a,b"],
    }
    return samples.get(schema.get("type", "moment"), ["x"])


def _path_of(call: Call, chosen: dict[str, object]) -> str:
    named = {one: quote(str(chosen[one]), safe="") for one in _in_path(call)}
    rest = {name: value for name, value in chosen.items() if name not in named}
    return call.path.format(**named) + (f"?{urlencode(rest)}" if rest else "")


def _in_path(call: Call) -> list[str]:
    return [one["name"] for one in call.told["parameters"] if one["in"] == "path"]


def status_of(console: ConsoleClient, path: str) -> int:
    """The status of an answer that may have no end; its beginning is read."""
    connection = HTTPConnection(console.address, timeout=SECONDS_MAX)
    try:
        connection.request("GET", path, headers={"cookie": console.cookie})
        response = connection.getresponse()
        response.readline()
        return response.status
    finally:
        connection.close()


def test_every_change_needs_the_token_of_its_session_and_a_page_of_the_console(
    guarded: ConsoleClient,
) -> None:
    before = state_of(guarded)
    carol = ConsoleClient(guarded.address)
    carol.log_in("carol", "carol-secret")
    token = guarded.get("/api/session")["csrf"]
    right = {"x-csrf-token": token}
    forged = [
        {},
        {"x-csrf-token": ""},
        {"x-csrf-token": token[:-1]},
        {"x-csrf-token": carol.get("/api/session")["csrf"]},
        {"x-csrf-token": ConsoleClient(guarded.address).get("/api/session")["csrf"]},
        {**right, "origin": "http://evil.test"},
        {**right, "origin": "null"},
        {**right, "origin": f"https://{guarded.address}.evil.test"},
        {**right, "sec-fetch-site": "cross-site"},
        {**right, "sec-fetch-site": "same-site"},
        {"content-type": "text/plain", "origin": f"http://{guarded.address}"},
    ]
    for call in changes(guarded):
        body = BODIES.get(call.name, {"confirm": "x"})
        for headers in forged:
            told = guarded.ask(call.method, call.filled(guarded), body, headers)
            assert (told.status, told.code) == (403, "csrf"), (call.name, headers)
        headers = {**right, "x-http-method-override": call.method}
        told = guarded.ask("GET", f"{call.filled(guarded)}?_method={call.method}", None, headers)
        assert told.status in (400, 404, 405), call.name
    assert differences(before, state_of(guarded)) == []
    assert guarded.get("/api/session")["user"] == "root"


def test_no_call_is_answered_to_a_name_that_is_not_the_consoles(guarded: ConsoleClient) -> None:
    token = guarded.get("/api/session")["csrf"]
    paths = [("GET", "/"), ("GET", "/topics"), ("GET", "/assets/x.js"), ("POST", "/mcp")]
    paths += [(call.method, call.filled(guarded)) for call in calls(guarded)]
    for host in (
        "evil.test",
        f"evil.test:{guarded.address.rpartition(':')[2]}",
        "localhost.evil.test",
    ):
        for method, path in paths:
            body = None if method == "GET" else {"confirm": "x"}
            headers = {"host": host, "x-csrf-token": token}
            told = guarded.ask(method, path, body, headers)
            assert (told.status, told.code) == (403, "wrong_host"), (method, path)


@pytest.mark.parametrize("role", [None, "viewer", "operator"])
def test_a_role_does_nothing_that_is_above_it(guarded: ConsoleClient, role: str | None) -> None:
    """With a session, its token and requests that would be done otherwise."""
    before = state_of(guarded)
    visitor = ConsoleClient(guarded.address)
    if role is not None:
        assert visitor.log_in(USERS[role], f"{USERS[role]}-secret").status == 200
    refused = set()
    for call in calls(guarded):
        if call.name in EVERYBODY or _is_allowed(call, role):
            continue
        path = call.filled(guarded)
        body = BODIES.get(call.name, {"confirm": "x"})
        told = (
            visitor.ask("GET", path)
            if call.method == "GET"
            else visitor.change(call.method, path, body)
        )
        wanted = (401, "login_needed") if role is None else (403, "forbidden")
        assert (told.status, told.code) == wanted, call.name
        refused.add(call.name)
    assert len(refused) > {None: 50, "viewer": 25, "operator": 17}[role]
    assert differences(before, state_of(guarded)) == []


def test_every_call_needs_the_role_that_the_page_of_the_console_says(
    guarded: ConsoleClient,
) -> None:
    for call in calls(guarded):
        wanted = (
            None
            if call.name in EVERYBODY
            else "operator"
            if call.name in OPERATOR
            else "admin"
            if call.method != "GET" or call.name in ADMIN_LOOKS
            else "viewer"
        )
        assert call.told.get("x-role") == wanted, call.name


def _is_allowed(call: Call, role: str | None) -> bool:
    if role is None or call.name in ADMIN_LOOKS:
        return False
    return call.method == "GET" or (role == "operator" and call.name in OPERATOR)


def test_a_session_is_made_by_a_log_in_alone_and_ends_with_it(guarded: ConsoleClient) -> None:
    visitor = ConsoleClient(guarded.address)
    visitor.cookie = "aerobee=chosen-by-somebody-else"
    told = visitor.log_in("dave", "dave-secret")
    cookie = told.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "path=/" in cookie
    assert "domain" not in cookie
    assert visitor.cookie != "aerobee=chosen-by-somebody-else"
    assert visitor.get("/api/session")["user"] == "dave"

    older = ConsoleClient(guarded.address)
    older.cookie = visitor.cookie
    assert visitor.log_in("dave", "dave-secret").status == 200
    assert older.ask("GET", "/api/topics").status == 401  # a new log-in ended the session before
    last = ConsoleClient(guarded.address)
    last.cookie = visitor.cookie
    assert visitor.change("POST", "/api/logout").status == 200
    assert last.ask("GET", "/api/topics").status == 401
    for wrong in ("aerobee=", "aerobee=" + 43 * "A", "__Host-aerobee=" + visitor.cookie[8:]):
        last.cookie = wrong
        assert last.ask("GET", "/api/topics").status == 401


def test_after_five_wrong_passwords_the_right_one_waits(guarded: ConsoleClient) -> None:
    """Of a name that nobody has, so that no other test waits; its address has log-ins that work."""
    visitor = ConsoleClient(guarded.address)
    codes = [visitor.log_in("mallory", f"guess-{number}").code for number in range(5)]
    assert codes == 5 * ["wrong_login"]
    told = visitor.log_in("mallory", "guess-5")
    assert (told.status, told.code) == (429, "too_many")
    assert int(told.headers["retry-after"]) >= 1
