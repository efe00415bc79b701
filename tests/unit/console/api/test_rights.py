from tests.console_kit import ConsoleClient

RULE = {"user": "carol", "resource": "Topic:orders", "actions": ["Sub", "Get"]}
CAN = "/api/rights/can?user=carol&action=Sub&resource=Topic:orders"


def test_a_right_is_given_changed_explained_and_taken(guarded: ConsoleClient) -> None:
    (verdict,) = guarded.get(CAN)["rows"]
    assert (verdict["can"], verdict["reason"]) == (False, "no rule of the user fits")
    assert guarded.change("PUT", "/api/rights", RULE).status == 200
    (row,) = guarded.get("/api/rights?q=carol")["rows"]
    assert (row["user"], row["resource"], row["decision"]) == ("carol", "Topic:orders", "Allow")
    assert set(row["actions"]) == {"Sub", "Get"}
    (verdict,) = guarded.get(CAN)["rows"]
    assert verdict["can"] is True
    assert "Allow Sub, Get on Topic:orders" in verdict["reason"]
    denied = {**RULE, "decision": "deny", "sources": ["10.0.0.0/8"]}
    assert guarded.change("PUT", "/api/rights", denied).status == 200
    (verdict,) = guarded.get(f"{CAN}&source=10.1.1.1")["rows"]
    assert verdict["can"] is False
    gone = {"user": "carol", "resource": "Topic:orders"}
    assert guarded.change("DELETE", "/api/rights", gone).code == "confirm"
    assert guarded.change("DELETE", "/api/rights", {**gone, "confirm": "carol"}).status == 200
    assert guarded.get("/api/rights?q=carol")["rows"] == []


def test_what_is_no_rule_is_refused_with_a_hint(guarded: ConsoleClient) -> None:
    for wrong in ({"resource": "orders"}, {"actions": ["Eat"]}, {"sources": ["everywhere"]}):
        told = guarded.change("PUT", "/api/rights", {**RULE, **wrong})
        assert told.code == "bad_request", wrong
    assert guarded.ask("GET", f"{CAN}x&action=Eat").code == "bad_request"


def test_a_super_user_and_nobody_are_told_apart(guarded: ConsoleClient) -> None:
    for user, can in (("root", True), ("nobody", False)):
        path = f"/api/rights/can?user={user}&action=Pub&resource=Topic:x"
        (verdict,) = guarded.get(path)["rows"]
        assert verdict["can"] is can
