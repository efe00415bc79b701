import pytest

from aerobee.app.load.run.capacity import DISK_FULL, Volume, plan
from aerobee.errors import Misuse

# 86.4 million a day are 1000 a second.
VOLUME = Volume(86_400_000, 750, 86_400, 1000, peak_factor=2, headroom=0.5, spare=1)


def test_brokers_are_for_the_peak_with_headroom_and_a_spare() -> None:
    planned = plan(VOLUME)
    assert planned.peak_rate == 2000
    assert planned.brokers == 4 + 1


def test_disk_is_for_the_retention_on_those_that_are_needed() -> None:
    planned = plan(VOLUME)
    assert planned.disk_bytes == pytest.approx(86_400_000 * 1000 / 4 / DISK_FULL)


def test_what_goes_out_grows_with_groups_and_copies() -> None:
    once = plan(VOLUME)
    more = plan(Volume(86_400_000, 750, 86_400, 1000, "--rate", 2, 0.5, copies=3, groups=4))
    assert once.network_out == once.network_in
    assert more.network_out == pytest.approx(6 * more.network_in)
    assert "15 brokers in all" in more.lines[-1]


def test_every_step_is_written_out() -> None:
    text = "\n".join(plan(VOLUME).lines)
    for figure in ("1,000/s on the average", "2,000/s", "500/s", "4 brokers", "1,000 bytes", "75%"):
        assert figure in text


@pytest.mark.parametrize(
    "wrong",
    [
        {"daily": 0},
        {"size": -1},
        {"retention_seconds": 0},
        {"broker_rate": 0},
        {"peak_factor": float("inf")},
        {"headroom": 0},
        {"headroom": 1.5},
        {"copies": 0},
        {"groups": -1},
        {"spare": -1},
    ],
)
def test_a_volume_that_cannot_be_is_refused(wrong: dict[str, float]) -> None:
    given = {"daily": 1, "size": 1, "retention_seconds": 1, "broker_rate": 1, **wrong}
    with pytest.raises(Misuse):
        Volume(**given)  # type: ignore[arg-type]
