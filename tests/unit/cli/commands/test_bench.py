import json
from pathlib import Path

import pytest

from tests.cli_kit import OnTerminal, aerobee
from tests.server_kit import Server

SHORT = ("--duration", "1s", "--warm-up", "0", "--queues", "2")


def leftovers(server: Server) -> list[str]:
    listed = aerobee(server, "topic", "list", "--all", "-o", "json").records
    return [one["topic"] for one in listed if "aerobee-bench" in one["topic"]]


def test_a_fixed_rate_is_held_and_compared_with_itself(server: Server, tmp_path: Path) -> None:
    load = ("bench", "produce", *SHORT, "--throughput", "200", "--record-size", "10-50")
    plot = tmp_path / "run.html"
    said = aerobee(server, *load, "-o", "json", "--plot", str(plot))
    assert said.status == 0
    figures = said.records["figures"]["sent"]
    assert figures["messages"] + figures["unsent"] == 200
    assert {"p50", "p99", "p99.99", "max"} <= figures["latency_ms"].keys()
    assert said.records["brokers"][0]["flush"] == "ASYNC_FLUSH"
    assert "<svg" in plot.read_text()
    # The same again, against a run that was impossibly fast, and against one that was slow.
    old = said.records
    old["figures"]["sent"]["latency_ms"]["p50"] = 1e-6
    (tmp_path / "fast.json").write_text(json.dumps(old))
    flags = ("--compare", str(tmp_path / "fast.json"), "--fail-if-slower", "50")
    slower = aerobee(server, *load, *flags)
    assert slower.status == 4
    assert "sent p50 ms is" in slower.error
    assert "RATIO" in slower.out
    other = aerobee(server, "bench", "latency", *flags)
    assert other.status == 2
    assert "not of `bench latency`" in other.error
    assert leftovers(server) == []


def test_as_fast_as_it_goes_ends_after_a_count_in_several_processes(server: Server) -> None:
    said = aerobee(
        server, "bench", "produce", *SHORT, "--duration", "100s", "--num-records", "400",
        "--batch", "10", "--processes", "2", "-o", "json",
    )  # fmt: skip
    assert said.status == 0
    assert said.records["figures"]["sent"]["messages"] == 400
    assert said.error == ""


def test_a_roundtrip_by_a_workload_file_is_shown_at_80_columns(
    server: Server, tmp_path: Path
) -> None:
    path = tmp_path / "omb.yaml"
    path.write_text(
        "name: small\ntopics: 1\npartitionsPerTopic: 2\nmessageSize: 100\nproducerRate: 100\n"
        "subscriptionsPerTopic: 1\nconsumerPerSubscription: 1\nproducersPerTopic: 1\n"
        "testDurationMinutes: 0.005\nwarmupDurationMinutes: 0\nkeyDistributor: NO_KEY\n"
    )
    said = aerobee(server, "bench", "roundtrip", "--workload", str(path))
    assert said.status == 0, said.error
    assert "end to end" in said.out
    assert "without meaning here: keyDistributor" in said.error
    assert [line for line in (said.out + said.error).splitlines() if len(line) > 80] == []
    assert leftovers(server) == []


def test_ctrl_c_on_a_terminal_prints_what_was_measured_and_cleans_up(server: Server) -> None:
    flags = ("-n", server.name_server, "--rate", "50", "--warm-up", "0", "--duration", "10m")
    bench = OnTerminal("bench", "produce", *flags)
    bench.wait_for("\r    1 ")  # a line that changes, after the first second
    bench.interrupt()
    status, lines = bench.end()
    assert status == 0
    assert any(line.startswith("It was interrupted") for line in lines)
    assert [line for line in lines if len(line) > 80] == []
    assert leftovers(server) == []


def test_a_volume_becomes_a_cluster_without_asking_one() -> None:
    nobody = Server("127.0.0.1:1")
    flags = ("--daily", "2e9", "--size", "1KiB", "--retention", "3d", "--rate", "80k")
    said = aerobee(nobody, "bench", "plan", *flags)
    assert said.status == 0
    assert "23,148/s on the average" in said.out
    assert "3 brokers, each with" in said.out
    assert [line for line in said.out.splitlines() if len(line) > 80] == []
    planned = aerobee(nobody, "bench", "plan", *flags, "-o", "json").records
    assert planned["brokers"] == 3


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("produce", "--topic", "nowhere"), 3, "nowhere"),
        (("produce", "--size", "many"), 2, "'many' is not a size"),
        (("produce", "--duration", "0"), 2, "needs some time"),
        (("produce", "--plot", "run.pdf"), 2, ".svg"),
        (("produce", "--compare", "no/such.json"), 2, "cannot be read"),
        (("produce", "--fail-if-slower", "3"), 2, "--compare"),
        (("produce", "--workload", "no/such.yaml"), 2, "cannot be read"),
        (("produce", "--payload", "no/such.data", "--queues", "1"), 1, "no/such.data"),
        (("produce", "--batch", "1000", "--size", "100KiB"), 2, "--batch"),
        (("roundtrip", "--size", "8"), 2, "--size 16"),
        (("plan",), 2, "--p99"),
        (("plan", "--daily", "1e6"), 2, "--rate"),
        (("plan", "--daily", "0", "--rate", "1"), 2, "more than nothing"),
    ],
)
def test_what_cannot_be_done_is_said_with_a_way_out(
    server: Server, words: tuple[str, ...], status: int, message: str
) -> None:
    said = aerobee(server, "bench", *words)
    assert said.status == status
    assert message in said.error


def test_without_a_cluster_it_says_how_to_start_one() -> None:
    said = aerobee(Server("127.0.0.1:1"), "bench", "produce", "-o", "json")
    assert said.status == 1
    assert "aerobee up" in json.loads(said.error)["hint"]


@pytest.mark.parametrize("verb", ["produce", "consume", "roundtrip", "latency", "plan"])
def test_help_has_examples(verb: str) -> None:
    said = aerobee(Server("127.0.0.1:1"), "bench", verb, "--help")
    assert said.status == 0
    assert f"aerobee bench {verb}" in said.out.partition("examples:")[2]
