from aerobee.console.api.overview import _hit, _note
from tests.console_kit import ConsoleClient


def test_the_overview_has_servers_totals_and_what_needs_attention(console: ConsoleClient) -> None:
    told = console.get("/api/overview")
    assert [one["problem"] for one in told["name_servers"]] == [None]
    assert told["totals"]["masters"] == 1
    assert told["totals"]["topics"] >= 1
    assert told["totals"]["groups"] >= 1
    assert told["totals"]["transactions"] == 0
    assert isinstance(told["attention"], list)
    (broker,) = told["brokers"]
    assert broker["put_ms"].keys() == {"p50", "p99", "p999"}
    assert "brokers.put_ms" not in told["unknown"]


def test_search_finds_names_of_every_kind_and_ids(console: ConsoleClient) -> None:
    def kinds(text: str) -> set[tuple[str, str]]:
        rows = console.get(f"/api/search?q={text}")["rows"]
        return {(row["kind"], row["name"]) for row in rows}

    assert ("topic", "orders") in kinds("ORDER")
    assert ("group", "billing") in kinds("bill")
    assert ("broker", "broker-a") in kinds("broker-a")
    assert ("message", "A" * 32) in kinds("A" * 32)
    assert console.ask("GET", "/api/search").code == "bad_request"


def test_a_path_leads_to_names_with_any_sign_and_one_message_is_no_messages() -> None:
    """Ids of Aerobee's clients have a # in them, which would begin a fragment."""
    assert _hit("client", "a#1/b", "/clients/", "")["path"] == "/clients/a%231%2Fb"
    assert _note("lag", "a&b", "", "groups")["path"] == "/groups/a%26b"
