from aerobee.console.api.broker_rows import product_of, unknown_of
from tests.console_kit import ConsoleClient


def test_a_master_has_its_figures_and_the_limits_of_its_disk(console: ConsoleClient) -> None:
    (row,) = console.get("/api/brokers")["rows"]
    assert (row["name"], row["role"], row["product"]) == ("broker-a", "MASTER", "aerobee")
    assert 0 < row["disk"]["used"] < 1
    assert (row["disk"]["warn"], row["disk"]["stop"]) == (0.75, 0.90)
    assert row["transactions"] == 0
    assert row["end_offset"] > 0
    assert row["problem"] is None


def test_what_masters_do_not_tell_is_said() -> None:
    row = {"is_master": True, "problem": None, "put_ms": None, "transactions": None}
    assert unknown_of([row]).keys() == {"brokers.put_ms", "brokers.transactions"}
    assert unknown_of([{**row, "problem": "silent"}]) == {}
    assert unknown_of([{**row, "put_ms": {"p99": 1.0}, "transactions": 0}]).keys() == {
        "brokers.put_ms.p50"
    }
    told = {"p50": 0.5, "p99": 1.0}
    assert unknown_of([{**row, "put_ms": told, "transactions": 0}]) == {}


def test_a_broker_of_rocketmq_is_known_by_its_figures() -> None:
    assert product_of({"putMessageDistributeTime": "…"}) == "apache"
    assert product_of({}) == "aerobee"
