from tests.console_kit import ConsoleClient


def test_a_cluster_without_users_says_so_and_is_no_error(console: ConsoleClient) -> None:
    for path in ("/api/users", "/api/rights"):
        told = console.get(path)
        assert told["rows"] == []
        assert "authenticationEnabled=true" in told["unknown"]["rows"]
    assert console.change("DELETE", "/api/users/x", {"confirm": "x"}).status >= 400


def test_a_user_is_created_changed_and_deleted(guarded: ConsoleClient) -> None:
    made = {"name": "erin", "password": "erin-secret"}
    assert guarded.change("POST", "/api/users", made).status == 200
    assert guarded.change("PATCH", "/api/users/erin", {}).code == "bad_request"
    assert guarded.change("PATCH", "/api/users/nobody", {"enabled": False}).code == "not_found"
    assert guarded.change("PATCH", "/api/users/erin", {"enabled": False}).status == 200
    told = guarded.ask("GET", "/api/users?q=erin")
    (row,) = told.json()["rows"]
    assert (row["kind"], row["enabled"], len(row["brokers"])) == ("Normal", False, 1)
    assert b"secret" not in told.body
    assert guarded.change("PATCH", "/api/users/erin", {"kind": "Super"}).status == 200
    (row,) = guarded.get("/api/users?q=erin")["rows"]
    assert (row["kind"], row["enabled"]) == ("Super", False)
    assert guarded.change("DELETE", "/api/users/erin", {"confirm": "erin"}).status == 200
    assert guarded.get("/api/users?q=erin")["rows"] == []
