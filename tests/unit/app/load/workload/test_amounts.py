import pytest

from aerobee.app.load.workload import amounts
from aerobee.errors import Misuse


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("10ms", 0.01), ("1.5s", 1.5), ("2", 2.0), ("5m", 300), ("3d", 259_200), ("20us", 2e-5)],
)
def test_times_have_units(text: str, wanted: float) -> None:
    assert amounts.seconds(text) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("100", 100), ("1KiB", 1024), ("1kB", 1000), ("2MB", 2_000_000), ("4k", 4096)],
)
def test_sizes_know_powers_of_two_and_of_ten(text: str, wanted: int) -> None:
    assert amounts.size(text) == wanted


def test_a_range_of_sizes_has_two_ends() -> None:
    assert amounts.sizes("100-2KiB") == (100, 2048)
    assert amounts.sizes("64") == (64, 64)
    with pytest.raises(Misuse, match="below the smallest"):
        amounts.sizes("200-100")


def test_numbers_may_be_written_short() -> None:
    assert amounts.count("2e9") == 2_000_000_000
    assert amounts.count("50k") == 50_000
    assert amounts.rate("1.5k") == 1500
    assert amounts.rate("-1") is None
    assert amounts.rate("max") is None


@pytest.mark.parametrize("text", ["", "ms", "10 parsecs", "-3", "1e", "0x10", "nan"])
def test_what_is_no_amount_is_said(text: str) -> None:
    for read in (amounts.seconds, amounts.size, amounts.count, amounts.rate):
        with pytest.raises(Misuse):
            read(text)


def test_a_rate_of_nothing_is_refused() -> None:
    with pytest.raises(Misuse, match="no rate"):
        amounts.rate("0")


def test_amounts_are_shown_short() -> None:
    assert amounts.shown_seconds(259_200) == "3 d"
    assert amounts.shown_seconds(0.01) == "10 ms"
    assert amounts.shown_seconds(2e-5) == "20 µs"
    assert amounts.shown_bytes(5 << 40) == "5 TiB"
    assert amounts.shown_bytes(1536) == "1.5 KiB"
    assert amounts.shown_bytes(12) == "12 bytes"
