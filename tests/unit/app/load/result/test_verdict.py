import pytest

from aerobee.app.load.measure.usage import Usage
from aerobee.app.load.result.verdict import LoadFacts, verdict
from tests.load_kit import usage


def facts(
    used: Usage, *, in_flight: float = 10.0, wanted: float | None = None, **more: int
) -> LoadFacts:
    given = {"messages": 100_000, "errors": 0, "unsent": 0, **more}
    return LoadFacts(
        10_000.0,
        wanted,
        given["messages"],
        given["errors"],
        in_flight,
        256,
        1,
        used,
        unsent=given["unsent"],
    )


@pytest.mark.parametrize(
    ("used", "cause", "figure"),
    [
        (usage(broker=0.97), "broker", "97%"),
        (usage(client=0.95), "client", "95%"),
        (usage(client=0.95, broker=0.97), "broker", "client 95%"),
        (usage(machine=0.99), "machine", "99%"),
        (usage(disk=0.93), "disk", "93%"),
        (usage(), "unknown", "machine 40%"),
        (usage(broker=None, client=0.95), "client", "95%"),
    ],
)
def test_what_is_at_its_end_is_named_with_its_figure(used: Usage, cause: str, figure: str) -> None:
    found = verdict(facts(used))
    assert found.cause == cause
    assert figure in found.sentence


def test_a_full_window_is_known_by_littles_law() -> None:
    found = verdict(facts(usage(), in_flight=255.0))
    assert found.cause == "window"
    assert "255 of 256" in found.sentence
    assert "25.50 ms" in found.sentence  # 255 in flight ÷ 10,000 a second


def test_a_rate_that_was_held_saturated_nothing() -> None:
    found = verdict(facts(usage(client=0.95), wanted=10_000.0))
    assert found.cause == "none"
    assert "was held" in found.sentence


def test_a_rate_that_was_not_held_says_so_and_why() -> None:
    found = verdict(facts(usage(client=0.95), wanted=20_000.0, unsent=50_000))
    assert found.cause == "client"
    assert found.sentence.startswith("20,000/s was not held.")


def test_refusals_come_before_everything_else() -> None:
    found = verdict(facts(usage(broker=0.99), wanted=10.0, errors=500))
    assert found.cause == "refused"
    assert "500 of 100,500" in found.sentence


def test_nothing_at_all_is_said_to_be_nothing() -> None:
    assert verdict(facts(usage(), messages=0)).sentence == "Nothing was sent."
