import importlib.util
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from aerobee.app.load.result.plot import chart, check_name, page, svg, write_plot
from aerobee.errors import Misuse
from tests.load_kit import result


@pytest.mark.parametrize("kind", ["produce", "consume", "roundtrip", "latency"])
def test_a_picture_is_well_formed_and_has_its_charts(kind: str) -> None:
    picture = svg(result(kind).to_json())
    root = ElementTree.fromstring(picture)
    titles = [one.text for one in root.iter() if one.get("font-weight") == "bold"]
    assert titles[0] == "messages a second"
    assert "cores in use" in titles
    assert "latency by percentile, ms" in titles


@pytest.mark.parametrize("name", ["run.svg", "run.html"])
def test_a_file_is_whole_and_loads_nothing(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_plot(str(path), result("roundtrip").to_json())
    text = path.read_text("utf-8")
    assert text.rstrip().endswith(("</svg>", "</html>"))
    addresses = set(re.findall(r"https?://[^\"'<> ]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(script|link|img)|url\(|@import", text)


def test_a_page_says_the_verdict_and_the_figures() -> None:
    text = page(result().to_json())
    assert "Nothing saturated." in text
    assert "1,000/s" in text
    assert "ASYNC_FLUSH" in text


def test_points_lie_within_their_chart() -> None:
    drawn = chart("x", [("a", [(0, 0), (1, 7.5), (2, 3)]), ("empty", [])], "s")
    (points,) = re.findall(r'points="([^"]+)"', drawn)
    places = [tuple(map(float, one.split(","))) for one in points.split()]
    assert places[0][1] > places[2][1] > places[1][1]  # up is more
    assert all(0 <= x <= 820 and 0 <= y <= 190 for x, y in places)


def test_words_of_others_stay_words() -> None:
    said = result().to_json()
    said["verdict"]["sentence"] = "<script>alert(1)</script>"
    assert "<script>" not in page(said)


@pytest.mark.parametrize("name", ["run.pdf", "run", "run.jpg"])
def test_another_kind_of_picture_is_refused_before_anything_is_measured(name: str) -> None:
    with pytest.raises(Misuse) as caught:
        check_name(name)
    assert ".svg" in caught.value.hint
    with pytest.raises(Misuse):
        write_plot(name, result().to_json())


@pytest.mark.skipif(importlib.util.find_spec("cairosvg") is not None, reason="it can be made here")
def test_a_png_without_its_library_is_refused_with_a_way_out() -> None:
    with pytest.raises(Misuse, match="cairosvg") as caught:
        check_name("run.png")
    assert "use .svg" in caught.value.hint


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="cannot be written"):
        write_plot(str(tmp_path / "nowhere" / "run.svg"), result().to_json())
