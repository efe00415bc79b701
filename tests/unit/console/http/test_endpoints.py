import contextlib

import pytest

from aerobee.console.http.action import DELETE, GET, Action, Ask, Record
from aerobee.console.http.endpoints import check_confirmed, check_role, routes_of
from aerobee.console.http.parameters import in_path
from aerobee.console.http.problem import Problem
from aerobee.console.session.visitor import Role, Visitor
from tests.console_kit import ConsoleClient


async def nothing(ask: Ask) -> Record:
    return {}


def test_a_role_that_is_too_low_is_told_and_none_is_asked_to_log_in() -> None:
    check_role(None, Visitor("a"))
    check_role(Role.OPERATOR, Visitor("a", Role.ADMIN))
    with pytest.raises(Problem) as caught:
        check_role(Role.OPERATOR, Visitor("a", Role.VIEWER))
    assert caught.value.code == "forbidden"
    with pytest.raises(Problem) as caught:
        check_role(Role.VIEWER, Visitor("a"))
    assert caught.value.code == "login_needed"


def test_what_cannot_be_undone_needs_the_name_once_more_and_a_dry_run_does_not() -> None:
    path = (in_path("topic", ""),)
    action = Action("a", DELETE, "/{topic}", Role.ADMIN, "", nothing, path, confirm="topic")
    visitor = Visitor("a", Role.ADMIN)
    check_confirmed(action, Ask({"topic": "t", "confirm": "t"}, visitor))
    check_confirmed(action, Ask({"topic": "t", "dry_run": True}, visitor))
    for wrong in ("", "T", "t "):
        with pytest.raises(Problem) as caught:
            check_confirmed(action, Ask({"topic": "t", "confirm": wrong}, visitor))
        assert caught.value.code == "confirm"


def test_fixed_paths_come_before_those_with_parameters() -> None:
    actions = [
        Action(name, GET, path, None, "", nothing)
        for name, path in (("a", "/m/{topic}/{id}"), ("b", "/m/search/now"), ("c", "/m/{topic}"))
    ]
    paths = [route.path for route in routes_of(actions, None)]  # type: ignore[arg-type]
    assert paths == ["/m/search/now", "/m/{topic}/{id}", "/m/{topic}"]


def test_a_change_without_the_token_or_from_another_page_does_nothing(
    console: ConsoleClient,
) -> None:
    body = {"name": "forged"}
    assert console.ask("POST", "/api/topics", body).code == "csrf"
    csrf = {"x-csrf-token": console.get("/api/session")["csrf"]}
    wrong = {**csrf, "origin": "http://evil.example"}
    assert console.ask("POST", "/api/topics", body, wrong).code == "csrf"
    assert console.ask("GET", "/api/topics", headers={"host": "evil.example"}).code == "wrong_host"
    assert console.ask("GET", "/api/topics/forged").status == 404


def test_a_body_that_is_too_large_or_no_object_is_refused(console: ConsoleClient) -> None:
    assert console.change("POST", "/api/topics", b"[" * 100_000).code == "bad_request"
    assert console.change("POST", "/api/topics", []).code == "bad_request"
    assert console.change("POST", "/api/topics", b" " * (3 << 20)).code == "too_large"


def test_every_answer_has_the_headers_of_safety(console: ConsoleClient) -> None:
    for path in ("/api/topics", "/api/nothing", "/", "/topics/orders"):
        headers = console.ask("GET", path).headers
        assert "script-src 'self'" in headers["content-security-policy"], path
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers


RANKS = {None: 0, "viewer": 1, "operator": 2, "admin": 3}
USERS = {"viewer": "carol", "operator": "dave", "admin": "root"}


@pytest.mark.parametrize("role", list(RANKS))
def test_a_role_may_call_what_it_includes_and_nothing_else(
    guarded: ConsoleClient, role: str | None
) -> None:
    """Every call, refused exactly where the description says, and never done without a token. One
    that is allowed is given what no call takes, so that nothing happens."""
    visitor = ConsoleClient(guarded.address)
    if role is not None:
        assert visitor.log_in(USERS[role], f"{USERS[role]}-secret").json()["role"] == role
    found: dict[str, str] = {}
    wanted: dict[str, str] = {}
    for path, methods in guarded.get("/api")["paths"].items():
        for method, told in methods.items():
            if "x-role" not in told:
                continue
            name, needs = told["operationId"], told["x-role"]
            is_change = method != "get"
            body = {"confirm": "x"} if is_change else None
            asked = path.replace("{", "").replace("}", "")
            found[name] = visitor.ask(method.upper(), f"{asked}?no_parameter=1", body).code
            if role is None:
                wanted[name] = "login_needed"
            elif RANKS[role] < RANKS[needs]:
                wanted[name] = "forbidden"
            else:
                wanted[name] = "csrf" if is_change else "bad_request"
    assert len(found) > 50
    assert found == wanted


def test_a_log_out_ends_the_streams_of_its_session_and_no_other(guarded: ConsoleClient) -> None:
    leaving, staying = ConsoleClient(guarded.address), ConsoleClient(guarded.address)
    for visitor in (leaving, staying):
        assert visitor.log_in("carol", "carol-secret").status == 200
    with contextlib.closing(staying.events("/api/live?series=cluster.in")) as others:
        assert next(others)[0] == "hello"
        streamed = leaving.events("/api/live?series=cluster.in")
        assert next(streamed)[0] == "hello"
        assert leaving.change("POST", "/api/logout").status == 200
        assert [name for name, _ in streamed][-1] == "ended"
        assert leaving.ask("GET", "/api/live?series=cluster.in").code == "login_needed"
        assert "sample" in (next(others)[0], next(others)[0])


def test_a_user_who_is_disabled_loses_sessions_and_streams(guarded: ConsoleClient) -> None:
    made = {"name": "erin", "password": "erin-secret"}
    assert guarded.change("POST", "/api/users", made).status == 200
    visitor = ConsoleClient(guarded.address)
    assert visitor.log_in("erin", "erin-secret").status == 200
    streamed = visitor.events("/api/live?series=cluster.in")
    assert next(streamed)[0] == "hello"
    assert guarded.change("PATCH", "/api/users/erin", {"enabled": False}).status == 200
    assert [name for name, _ in streamed][-1] == "ended"
    assert visitor.ask("GET", "/api/topics").code == "login_needed"
    assert guarded.change("DELETE", "/api/users/erin", {"confirm": "erin"}).status == 200


def test_what_is_refused_is_in_the_record_of_actions_with_its_name(guarded: ConsoleClient) -> None:
    visitor = ConsoleClient(guarded.address)
    visitor.log_in("carol", "carol-secret")
    gone = {"confirm": "precious"}
    assert visitor.change("DELETE", "/api/topics/precious", gone).code == "forbidden"
    assert visitor.ask("GET", "/api/audit").code == "forbidden"
    assert guarded.change("DELETE", "/api/topics/precious", {}).code == "confirm"
    assert guarded.change("PATCH", "/api/topics/absent", {"queues": 3}).status == 404
    noted = {
        (row["user"], row["action"], row["of"], row["outcome"])
        for row in guarded.get("/api/audit?limit=8")["rows"]
    }
    assert {
        ("carol", "deleteTopic", "precious", "refused"),
        ("carol", "listActions", "", "refused"),
        ("root", "deleteTopic", "precious", "refused"),
        ("root", "changeTopic", "absent", "failed"),
    } <= noted
