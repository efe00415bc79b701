import contextlib
from typing import Any

from aerobee.console.api.bench import result_row
from tests.console_kit import ConsoleClient

SHORT = {"kind": "produce", "rate": 200, "duration": 600, "size": 64, "queues": 1}


def test_a_load_test_is_started_watched_stopped_and_compared(console: ConsoleClient) -> None:
    assert console.change("POST", "/api/bench/stop").code == "not_found"
    name = console.change("POST", "/api/bench", SHORT).json()["name"]
    assert console.change("POST", "/api/bench", SHORT).code == "conflict"
    told: list[dict[str, Any]] = []
    with contextlib.closing(console.events("/api/bench/live")) as events:
        for kind, data in events:
            if kind == "end":
                break
            if data["new"] and not any(one["new"] for one in told):
                assert console.change("POST", "/api/bench/stop").status == 200
            told.append(data)
    assert (told[-1]["is_over"], told[-1]["said"], told[-1]["problem"]) == (True, "stopped", "")

    (row,) = console.get("/api/bench")["rows"]
    assert (row["name"], row["is_interrupted"]) == (name, True)
    assert row["rate"] > 0
    compared = console.get(f"/api/bench/{name}?with={name}")
    assert compared["result"]["figures"]["sent"]["messages"] > 0
    assert "histograms" not in compared["result"]
    assert compared["comparison"]["settings"] == []
    changes = {one["figure"]: one["ratio"] for one in compared["comparison"]["changes"]}
    assert changes["sent rate"] == 1.0
    assert console.change("DELETE", f"/api/bench/{name}", {"confirm": name}).status == 200
    assert console.ask("GET", f"/api/bench/{name}").code == "not_found"
    assert console.get("/api/topics?kind=all&q=aerobee-bench")["rows"] == []


def test_a_load_test_beyond_the_bounds_is_refused(console: ConsoleClient) -> None:
    for wrong in ({"duration": 601}, {"kind": "break"}, {"size": 0}, {"processes": 100}):
        assert console.change("POST", "/api/bench", {**SHORT, **wrong}).code == "bad_request"


def test_a_row_has_the_figures_of_the_side_that_the_run_was_about() -> None:
    sides = {"sent": {"rate": 1.0}, "received": {"rate": 2.0, "latency_ms": {"p99": 3.0}}}
    row = result_row({"name": "n", "kind": "roundtrip", "figures": sides})
    assert (row["rate"], row["p99_ms"], row["p50_ms"]) == (2.0, 3.0, None)
