"""The comparison of clients without its measurements: figures, tables, picture, programs."""

import asyncio
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.client.__main__ import FILL_SIDES
from bench.client.hosts import HOSTS, ServerFigures
from bench.client.meter import (
    BODY,
    FETCH,
    GROWTH_MAX,
    Asked,
    Taking,
    at_once,
    measure_one_by_one,
    next_try,
)
from bench.client.packages import PackageError, installed
from bench.client.picture import OTHERS, OURS, Bar, Panel, draw, picture
from bench.client.programs import PROGRAMS
from bench.client.results import Unmeasured, cpu_us, latency_ms, rate, read, server_table, tables
from bench.client.sides import CASES, SIDES

SVG = "{http://www.w3.org/2000/svg}"
FAST = {"count": 1000, "seconds": 0.5, "cpu": 0.01}
SLOW = {"count": 1000, "seconds": 2.0, "cpu": 0.03}


def test_a_program_s_last_line_of_json_counts() -> None:
    assert read('hello\n{"count": 1}\n{"count": 2}\nbye\n', "") == {"count": 2}


def test_a_program_without_a_figure_says_what_it_said_last() -> None:
    with pytest.raises(Unmeasured, match=r"^OSError: no$"):
        read("", "Traceback\nOSError: no\n\n")
    with pytest.raises(Unmeasured, match="nothing"):
        read("", "")


def test_the_median_of_the_rounds_counts() -> None:
    runs = [FAST, SLOW, {"count": 1000, "seconds": 1.0, "cpu": 0.02}]
    assert rate(runs) == 1000
    assert cpu_us(runs) == pytest.approx(20)
    assert latency_ms(runs, "p50") is None
    assert latency_ms([{"p99": 0.001}, {"p99": 0.003}], "p99") == pytest.approx(2)


def test_the_smallest_server_is_first() -> None:
    servers = [
        ServerFigures("large", 3.7, 1_000_000_000, 4_648_400_000),
        ServerFigures("small", 0.471, 24_600_000, 25_000_000),
    ]
    assert server_table(servers).splitlines()[2:] == [
        "| small | 0.47 s | 25 MB | 25 MB |",
        "| large | 3.70 s | 1,000 MB | 4,648 MB |",
    ]


def test_the_fastest_is_first_and_one_without_a_figure_last_with_its_reason() -> None:
    found = {"flood": {"nats": [FAST], "aerobee": [SLOW]}}
    shown = tables(found, {("flood", "redis"): "no server", ("one", "redis"): "too late"})
    first, second = shown.split("\n\n")
    assert first.splitlines() == [
        "| single sends, 256 in flight | sent/s | client's CPU each |",
        "| --- | ---: | ---: |",
        "| nats-py 2.16.0 | 2,000 | 10.00 µs |",
        "| **aerobee** | 500 | 30.00 µs |",
        "| redis 8.1.0 | no server | – |",
    ]
    assert second.splitlines()[2:] == ["| redis 8.1.0 | too late | – |"]


def test_latencies_are_shown_where_they_were_measured() -> None:
    found = {"one": {"aerobee": [{**FAST, "p50": 0.0001, "p99": 0.002}], "nats": [FAST]}}
    lines = tables(found, {}).splitlines()
    assert lines[0].endswith("| p50 | p99 |")
    assert lines[2].endswith("| 0.10 ms | 2.00 ms |")
    assert lines[3].endswith("| – | – |")


def test_bars_are_as_long_as_their_figures_and_ours_are_marked() -> None:
    bars = [Bar("a & b", 400.0, "400", is_ours=False), Bar("ours", 100.0, "100", is_ours=True)]
    drawn = ElementTree.fromstring(picture("<title>", [Panel("p", bars)]))
    _, other, ours = drawn.findall(f"{SVG}rect")
    assert (other.get("fill"), ours.get("fill")) == (OTHERS, OURS)
    assert float(other.get("width", 0)) == 4 * float(ours.get("width", 0))
    assert [text.text for text in drawn.findall(f"{SVG}text")] == [
        "<title>", "p", "a & b", "400", "ours", "100",
    ]  # fmt: skip


def test_every_bar_and_label_is_inside_the_picture() -> None:
    run = {**FAST, "p50": 0.01, "p99": 0.1}
    found = {case: {side: [run] for side in SIDES} for case in CASES}
    drawn = ElementTree.fromstring(draw(found))
    width, height = float(drawn.get("width", 0)), float(drawn.get("height", 0))
    texts = drawn.findall(f"{SVG}text")
    assert len(texts) == 1 + len(CASES) + 2 * len(CASES) * len(SIDES)
    for text in texts:
        assert float(text.get("y", 0)) <= height
        letters = 6.5 * len(text.text or "")  # of 12 pixels
        x = float(text.get("x", 0))
        assert x - letters >= 0 if text.get("text-anchor") == "end" else x + letters <= width


def test_cases_without_a_figure_have_no_panel() -> None:
    drawn = draw({"receive": {"redis": [FAST]}})
    assert "received by one process: received/s" in drawn
    assert "single sends" not in drawn


def test_each_side_has_a_program_a_server_and_a_way_to_receive() -> None:
    for side in SIDES.values():
        assert side.host in HOSTS
        assert {"flood", "one", "receive"} <= PROGRAMS[side.program].keys() <= {"fill", *CASES}
    for host in HOSTS:
        filler = SIDES[FILL_SIDES[host]]
        assert filler.host == host
        assert "fill" in PROGRAMS[filler.program]
    assert PROGRAMS["aerobee"].keys() == {"fill", *CASES}


def test_the_picture_s_names_carry_the_version_that_is_installed() -> None:
    for side in SIDES.values():
        for package in side.packages:
            name, _, version = re.sub(r"\[.*\]", "", package).partition("==")
            assert side.title.startswith(f"{name} {version}")


def test_a_try_grows_to_what_is_wanted_by_steps() -> None:
    assert next_try(100, 0.1, 0.5) == 500
    assert next_try(100, 0.0, 0.5) == 100 * GROWTH_MAX
    assert next_try(1, 10.0, 0.5) == 1


def test_at_once_sends_all_and_no_less_with_so_many_in_flight() -> None:
    async def send_all() -> int:
        four = asyncio.Barrier(4)
        async with asyncio.timeout(10):
            return await at_once(four.wait, 4, each=10)(125)

    assert asyncio.run(send_all()) == 160


def test_one_by_one_has_a_latency_of_each_send(capsys: pytest.CaptureFixture[str]) -> None:
    sent = 0

    async def send() -> None:
        nonlocal sent
        sent += 1

    asyncio.run(measure_one_by_one(Asked("", 0.0, 0), send))
    said = json.loads(capsys.readouterr().out)
    assert said["count"] == 1
    assert 0 < said["p50"] == said["p99"] <= said["seconds"]


def test_what_is_received_counts_after_the_warm_up_until_the_time_is_over(
    capsys: pytest.CaptureFixture[str],
) -> None:
    taking = Taking(Asked("", 0.0, 10 * FETCH))
    assert not taking.take(100, 0)
    assert not taking.take(100, 0)
    assert not taking.is_over
    assert taking.take(7, 7 * len(BODY))
    assert taking.take(1, len(BODY))
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["count"] == 7


def test_the_end_of_what_is_there_ends_it_too(capsys: pytest.CaptureFixture[str]) -> None:
    taking = Taking(Asked("", 1e9, 10 * FETCH))
    taken = 0
    while not taking.take(FETCH, FETCH * len(BODY)):
        taken += 1
        assert taken < 10
    assert json.loads(capsys.readouterr().out)["count"] == 8 * FETCH


def test_bodies_that_are_not_what_was_sent_are_an_error() -> None:
    taking = Taking(Asked("", 0.0, 10 * FETCH))
    taking.take(1, 0)
    taking.take(1, 0)
    with pytest.raises(ValueError, match="2 messages of 199 bytes"):
        taking.take(2, 199)


def test_packages_that_are_there_are_not_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "cpp").mkdir()
    (tmp_path / "cpp" / "stamp").write_text("nothing==1 else==2")
    assert installed("cpp", ["nothing==1", "else==2"], tmp_path) == tmp_path / "cpp"


def test_a_package_that_cannot_be_had_leaves_no_stamp(tmp_path: Path) -> None:
    with pytest.raises(PackageError, match="pip install"):
        installed("x", [str(tmp_path / "not-there.whl")], tmp_path)
    assert not (tmp_path / "x" / "stamp").exists()
