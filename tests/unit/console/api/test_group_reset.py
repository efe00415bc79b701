from aerobee.console.api.group_reset import ResetStep
from aerobee.model.message_queue import MessageQueue, QueueId
from tests.console_kit import ConsoleClient

QUEUE = MessageQueue("orders", "broker-a", QueueId(0))
PATH = "/api/groups/mover/reset"


def test_a_step_repeats_or_skips() -> None:
    assert (ResetStep(QUEUE, 10, 4).repeated, ResetStep(QUEUE, 10, 4).skipped) == (6, 0)
    assert (ResetStep(QUEUE, 10, 14).repeated, ResetStep(QUEUE, 10, 14).skipped) == (0, 4)
    assert ResetStep(QUEUE, None, 3).skipped == 3


def test_a_reset_does_what_its_preview_says(console: ConsoleClient) -> None:
    assert console.change("POST", "/api/groups", {"name": "mover"}).status == 200
    body = {"topic": "orders", "to": "latest"}
    assert console.change("POST", PATH, body).code == "confirm"
    would = console.change("POST", PATH, {**body, "dry_run": True}).json()
    assert (would["preview"]["skipped"], would["preview"]["repeated"]) == (6, 0)
    assert console.get("/api/groups/mover")["queues"] == []
    assert console.change("POST", PATH, {**body, "confirm": "mover"}).status == 200
    one = {"topic": "orders", "broker": "broker-a", "queue": 0, "offset": 1}
    preview = console.change("POST", PATH, {**one, "dry_run": True}).json()["preview"]
    assert preview["repeated"] == preview["queues"][0]["from"] - 1
    assert console.change("POST", PATH, {**one, "confirm": "mover"}).status == 200
    offsets = {row["queue"]: row["offset"] for row in console.get("/api/groups/mover")["queues"]}
    assert offsets[0] == 1
    assert console.change("DELETE", "/api/groups/mover", {"confirm": "mover"}).status == 200


def test_a_reset_that_says_too_much_or_too_little_is_refused(console: ConsoleClient) -> None:
    path = "/api/groups/billing/reset"
    for body in (
        {"topic": "orders", "dry_run": True},
        {"topic": "orders", "to": "latest", "offset": 1, "dry_run": True},
        {"topic": "orders", "offset": 1, "dry_run": True},
    ):
        assert console.change("POST", path, body).code == "bad_request", body
    wrong = {"topic": "orders", "queue": 9, "offset": 1, "dry_run": True}
    assert console.change("POST", path, wrong).code == "not_found"
    assert console.change("POST", "/api/groups/none/reset", wrong).code == "not_found"
