from tests.console_kit import ConsoleClient


def test_changes_are_recorded_done_refused_and_failed_and_looking_is_not(
    console: ConsoleClient,
) -> None:
    assert console.change("POST", "/api/groups", {"name": "noted"}).status == 200
    assert console.change("DELETE", "/api/groups/noted", {"confirm": "x"}).status == 409
    assert console.change("DELETE", "/api/groups/noted", {"dry_run": True}).status == 200
    assert console.change("DELETE", "/api/groups/noted", {"confirm": "noted"}).status == 200
    rows = console.get("/api/audit?q=noted")["rows"]
    assert [(one["action"], one["of"], one["outcome"]) for one in rows] == [
        ("deleteGroup", "noted", "done"),
        ("deleteGroup", "noted", "refused"),
        ("createGroup", "noted", "done"),
    ]
    assert rows[0]["from"] == "127.0.0.1"
    assert console.get(f"/api/audit?q=noted&from={rows[0]['at'] + 1}")["rows"] == []
