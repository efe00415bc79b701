from tests.console_kit import ConsoleClient


def test_the_list_has_lag_and_members(console: ConsoleClient) -> None:
    (row,) = console.get("/api/groups?q=billing")["rows"]
    assert (row["lag"], row["enabled"], row["dead"]) == (4, True, 0)
    assert console.get("/api/groups?kind=system")["total"] > 0


def test_a_group_has_the_lag_of_every_queue_and_its_settings(console: ConsoleClient) -> None:
    told = console.get("/api/groups/billing")
    orders = [one for one in told["queues"] if one["topic"] == "orders"]
    assert sum(one["lag"] for one in orders) == 4
    assert sum(one["offset"] for one in orders) == 2
    assert told["members"] == []
    assert told["configs"][0]["retry_max"] == 16
    assert console.ask("GET", "/api/groups/nothing").status == 404


def test_a_member_that_is_not_there_is_told(console: ConsoleClient) -> None:
    assert console.ask("GET", "/api/groups/billing/members/nobody").status in (400, 404)


def test_a_group_is_created_changed_and_deleted_with_its_name_repeated(
    console: ConsoleClient,
) -> None:
    assert console.change("POST", "/api/groups", {"name": "made", "retry_max": 3}).status == 200
    assert console.change("POST", "/api/groups", {"name": "made"}).code == "conflict"
    assert console.change("PATCH", "/api/groups/made", {"enabled": False}).status == 200
    config = console.get("/api/groups/made")["configs"][0]
    assert (config["enabled"], config["retry_max"]) == (False, 3)
    assert console.change("DELETE", "/api/groups/made", {"confirm": "mad"}).code == "confirm"
    would = console.change("DELETE", "/api/groups/made", {"dry_run": True}).json()
    assert would["preview"]["members"] == []
    assert console.change("DELETE", "/api/groups/made", {"confirm": "made"}).status == 200
    assert console.ask("GET", "/api/groups/made").status == 404
