import contextlib
from pathlib import Path

from aerobee.console.settings import ConsoleConfig
from tests.console_kit import ConsoleClient, served_console


def test_history_has_every_series_on_the_same_times(console: ConsoleClient) -> None:
    console.until("cluster.transactions", 0)
    told = console.get("/api/history?series=broker.broker-a.disk,nothing&points=3600")
    assert told["step_ms"] == 1000
    assert len(told["times"]) == len(told["series"]["nothing"])
    assert len(told["times"]) == len(told["series"]["broker.broker-a.disk"])
    assert any(one is not None for one in told["series"]["broker.broker-a.disk"])
    assert all(one is None for one in told["series"]["nothing"])


def test_a_long_span_is_prometheuss_where_one_is_configured_and_the_consoles_own_if_it_is_silent(
    console: ConsoleClient, tmp_path: Path
) -> None:
    config = ConsoleConfig(
        port=0,
        name_servers=console.name_server,
        folder=str(tmp_path),
        prometheus="http://127.0.0.1:1",
    )
    with served_console(config) as silent:
        assert silent.get("/api/session")["has_prometheus"] is True
        short = silent.get("/api/history?series=cluster.in")
        assert (short["source"], short["unknown"]) == ("console", {})
        long = silent.get("/api/history?series=cluster.in&from=0&to=86400000")
        assert long["source"] == "console"
        assert "Prometheus" in long["unknown"]["series"]


def test_live_figures_begin_with_a_greeting_and_come_again(console: ConsoleClient) -> None:
    with contextlib.closing(console.events("/api/live?series=cluster.lag,nothing")) as events:
        assert next(events)[0] == "hello"
        samples = [next(events) for _ in range(2)]
    assert [name for name, _ in samples] == ["sample", "sample"]
    assert samples[0][1]["at"] < samples[1][1]["at"]
    assert samples[1][1]["values"].keys() == {"cluster.lag"}


def test_live_figures_have_their_past_first_if_it_is_asked_for(console: ConsoleClient) -> None:
    path = "/api/live?series=cluster.lag&points=3600&from="
    with contextlib.closing(console.events("/api/live?series=cluster.lag")) as events:
        start = next(data["at"] for name, data in events if name == "sample")
    with contextlib.closing(console.events(f"{path}{start}")) as events:
        assert next(events)[0] == "hello"
        name, past = next(events)
        sample = next(events)
    assert name == "past"
    assert past["times"][0] <= start < sample[1]["at"]
    assert len(past["series"]["cluster.lag"]) == len(past["times"])


def test_too_many_series_and_spans_that_end_before_they_begin_are_refused(
    console: ConsoleClient,
) -> None:
    many = ",".join(f"s{number}" for number in range(201))
    for path in (
        f"/api/live?series={many}",
        "/api/live",
        "/api/history?series=a&from=10&to=5",
        "/api/history?series=a&points=3601",
    ):
        assert console.ask("GET", path).code == "bad_request", path
