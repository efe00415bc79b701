from aerobee.app.explaining.findings import Cause, CauseFinding
from aerobee.console.api.message.explanations import finding_row
from tests.console_kit import ConsoleClient


def test_a_group_is_explained(console: ConsoleClient) -> None:
    told = console.get("/api/groups/billing/explain")
    causes = {one["cause"] for one in told["findings"]}
    assert "no members" in causes
    assert all(one["next"].startswith("aerobee") for one in told["findings"])


def test_a_message_is_explained_by_group(console: ConsoleClient) -> None:
    (row,) = console.get("/api/messages?topic=orders&key=o-5")["rows"]
    told = console.get(f"/api/messages/orders/{row['id']}/explain?group=billing")
    assert {one["group"] for one in told["findings"]} == {"billing"}
    assert told["message"] == row["id"]


def test_a_finding_that_is_none_is_calm() -> None:
    well, behind = (
        finding_row(CauseFinding(cause, "text", "aerobee x", "g"))
        for cause in (Cause.WELL, Cause.BEHIND)
    )
    assert (well["severity"], behind["severity"]) == ("ok", "warning")
