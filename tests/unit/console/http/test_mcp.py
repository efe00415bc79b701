"""Tools of assistants, as an assistant calls them."""

from typing import Any

import pytest

from tests.console_kit import ConsoleClient, Told


def post(console: ConsoleClient, method: str, params: object = None, **headers: str) -> Told:
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params or {}}
    return ConsoleClient(console.address).ask("POST", "/mcp", message, headers)


def ask(console: ConsoleClient, method: str, params: object = None, **headers: str) -> Any:
    told = post(console, method, params, **headers)
    assert told.status == 200, told.body
    answer = told.json()
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 7)
    return answer


def bearer(console: ConsoleClient) -> str:
    return f"Bearer {console.cookie.partition('=')[2]}"


def test_an_assistant_is_greeted_and_told_the_tools(console: ConsoleClient) -> None:
    hello = ask(console, "initialize", {"protocolVersion": "2025-06-18"})["result"]
    assert hello["protocolVersion"] == "2025-06-18"
    assert hello["capabilities"] == {"tools": {}}
    newer = ask(console, "initialize", {"protocolVersion": "2099-01-01"})["result"]
    assert newer["protocolVersion"] == "2025-11-25"
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert console.ask("POST", "/mcp", note).status == 202
    assert ask(console, "ping")["result"] == {}
    tools = {one["name"]: one for one in ask(console, "tools/list")["result"]["tools"]}
    assert all(one["annotations"]["readOnlyHint"] for one in tools.values())
    assert {"overview", "listTopics", "findMessages"} <= tools.keys()
    assert not {"deleteTopic", "createTopic", "live", "logIn"} & tools.keys()
    assert tools["listTopics"]["inputSchema"]["properties"]["limit"]["type"] == "integer"


def test_a_tool_answers_as_the_api_does(console: ConsoleClient) -> None:
    given = {"name": "listTopics", "arguments": {"q": "orders", "limit": 5}}
    told = ask(console, "tools/call", given)["result"]
    assert told["isError"] is False
    assert [row["name"] for row in told["structuredContent"]["rows"]] == ["orders"]
    assert '"orders"' in told["content"][0]["text"]


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("listTopics", {"limit": "many"}, "bad_request"),
        ("listTopics", {"nonsense": 1}, "bad_request"),
        ("listTopics", [1], "bad_request"),
        ("showTopic", {"topic": "absent"}, "not_found"),
    ],
)
def test_what_goes_wrong_is_told_to_the_assistant(
    console: ConsoleClient, name: str, arguments: object, code: str
) -> None:
    told = ask(console, "tools/call", {"name": name, "arguments": arguments})["result"]
    assert told["isError"] is True
    assert told["structuredContent"]["error"]["code"] == code


@pytest.mark.parametrize("name", ["deleteTopic", "createTopic", "logOut", "none", None, 5])
def test_a_change_is_no_tool_unless_it_is_configured(console: ConsoleClient, name: object) -> None:
    given = {"name": name, "arguments": {"topic": "orders", "confirm": "orders"}}
    assert ask(console, "tools/call", given)["error"]["code"] == -32602
    assert console.get("/api/topics/orders")["name"] == "orders"


def test_what_is_no_message_is_refused(console: ConsoleClient) -> None:
    assert ask(console, "resources/list")["error"]["code"] == -32601
    assert console.ask("POST", "/mcp", {"id": 1}).json()["error"]["code"] == -32600
    assert console.ask("POST", "/mcp", b"[]").code == "bad_request"
    assert console.ask("GET", "/mcp").status == 405


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"host": "evil.example"}, "wrong_host"),
        ({"origin": "http://evil.example"}, "csrf"),
        ({"sec-fetch-site": "cross-site"}, "csrf"),
        ({"content-type": "text/plain"}, "bad_request"),
    ],
)
def test_a_page_of_another_site_calls_no_tool(
    console: ConsoleClient, headers: dict[str, str], code: str
) -> None:
    assert post(console, "tools/list", **headers).code == code


def test_a_tool_needs_the_session_and_the_role_of_its_call(guarded: ConsoleClient) -> None:
    assert post(guarded, "tools/list").code == "login_needed"
    assert guarded.ask("POST", "/mcp", {"id": 1, "method": "ping"}).code == "login_needed"
    viewer = ConsoleClient(guarded.address)
    viewer.log_in("carol", "carol-secret")
    tools = ask(guarded, "tools/list", authorization=bearer(viewer))["result"]["tools"]
    assert "listUsers" not in [one["name"] for one in tools]
    given = {"name": "createTopic", "arguments": {"name": "by-tool", "queues": 1}}
    told = ask(guarded, "tools/call", given, authorization=bearer(viewer))["result"]
    assert told["structuredContent"]["error"]["code"] == "forbidden"

    told = ask(guarded, "tools/call", given, authorization=bearer(guarded))["result"]
    assert told["isError"] is False, told
    gone: dict[str, Any] = {"name": "deleteTopic", "arguments": {"topic": "by-tool"}}
    told = ask(guarded, "tools/call", gone, authorization=bearer(guarded))["result"]
    assert told["structuredContent"]["error"]["code"] == "confirm"
    gone["arguments"]["confirm"] = "by-tool"
    told = ask(guarded, "tools/call", gone, authorization=bearer(guarded))["result"]
    assert told["isError"] is False, told
    noted = [(row["action"], row["of"]) for row in guarded.get("/api/audit?limit=4")["rows"]]
    assert ("deleteTopic", "by-tool") in noted
    assert ("createTopic", "by-tool") in noted


def test_refused_and_failed_calls_are_in_the_record_of_actions(
    console: ConsoleClient, guarded: ConsoleClient
) -> None:
    def noted(of: ConsoleClient) -> list[tuple[str, str, str, str]]:
        rows = of.get("/api/audit?limit=4")["rows"]
        return [(row["action"], row["of"], row["outcome"], row["detail"]) for row in rows]

    given = {"name": "deleteTopic", "arguments": {"topic": "orders", "confirm": "orders"}}
    assert ask(console, "tools/call", given)["error"]["code"] == -32602
    why = "by MCP: assistants may not do it"
    assert noted(console)[0] == ("deleteTopic", "orders", "refused", why)
    assert post(guarded, "tools/call", given).code == "login_needed"
    assert noted(guarded)[0] == ("deleteTopic", "orders", "refused", "by MCP: log in first")
    absent = {"name": "changeTopic", "arguments": {"topic": "absent", "queues": 2}}
    ask(guarded, "tools/call", absent, authorization=bearer(guarded))
    action, of, outcome, detail = noted(guarded)[0]
    assert (action, of, outcome) == ("changeTopic", "absent", "failed")
    assert detail.startswith("by MCP: ")
    viewer = ConsoleClient(guarded.address)
    viewer.log_in("carol", "carol-secret")
    ask(guarded, "tools/call", given, authorization=bearer(viewer))
    assert noted(guarded)[0][:3] == ("deleteTopic", "orders", "refused")
