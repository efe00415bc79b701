from dataclasses import replace
from typing import Any

import pytest

from aerobee.app.load.measure.usage import Usage
from aerobee.app.load.result.verdict import LoadFacts, Verdict, consumers_behind, verdict
from tests.load_kit import part, usage

SYNC = "SYNC_FLUSH"


def facts(used: Usage, **more: Any) -> LoadFacts:
    """A run as fast as it goes: 256 requests in flight, as many as may be."""
    plain = LoadFacts(10_000.0, None, 100_000, 0, 255.6, 256, 1, used, workers=["worker 1"])
    return replace(plain, brokers=["broker-a"], **more)


def judged(used: Usage, **more: Any) -> Verdict:
    return verdict(facts(used, **more))


@pytest.mark.parametrize(
    ("used", "cause", "figures"),
    [
        (usage(broker=0.97), "broker", ["broker-a was busy 97%", "client 20%"]),
        (usage(client=0.95), "client", ["worker 1 was busy 95%", "broker 30%"]),
        (usage(client=0.95, broker=0.97), "broker", ["busy 97%", "client 95%"]),
        (usage(client=0.97, broker=0.95), "client", ["busy 97%", "broker 95%"]),
        (usage(broker=None, client=0.95), "client", ["95%", "broker unknown"]),
        (usage(disk=0.93), "disk", ["waited for it 93%", "5 MB/s written", "broker 30%"]),
        (usage(), "window", ["256 of 256", "client 20%", "broker 30%", "disk 10%", "machine 40%"]),
    ],
)
def test_what_is_at_its_end_is_named_with_its_figures(
    used: Usage, cause: str, figures: list[str]
) -> None:
    found = judged(used)
    assert found.cause == cause
    assert [figure for figure in figures if figure not in found.sentence] == []


def test_a_client_at_nine_tenths_of_a_core_is_named_and_not_its_window() -> None:
    found = judged(usage(client=part(0.896, 0.02), broker=0.75, machine=0.84))
    assert found.cause == "client"
    assert "worker 1 was busy 92% of the time, 90% on a core and 2% waiting" in found.sentence
    assert "broker 75%" in found.sentence
    assert "try --processes 2." in found.sentence


def test_a_thread_that_waits_for_a_core_now_and_then_is_busy_meanwhile() -> None:
    # The client as measured on 2 busy cores, with 256 in flight.
    found = judged(usage(client=part(0.77, 0.14), broker=part(0.33, 0.04), machine=1.0))
    assert found.cause == "client"
    assert "no core is free for more --processes" in found.sentence


@pytest.mark.parametrize(
    ("used", "figures"),
    [
        # Eight processes share two cores: nothing that is measured is slow by itself.
        (usage(client=part(0.37, 0.61), machine=1.0), ["worker 1", "61% waiting", "others 3.3"]),
        (usage(broker=part(0.34, 0.64), machine=1.0), ["broker-a", "64% waiting", "client 20%"]),
        # One request at a time: client and broker take turns, and both wait for a core.
        (usage(client=part(0.2, 0.36), broker=part(0.2, 0.4), machine=1.0), ["40% waiting"]),
        # Kernels that do not count waiting: only the cores are known.
        (usage(client=part(0.5, None), broker=0.4, machine=0.97), ["97% of its 4 cores"]),
    ],
)
def test_cores_that_are_waited_for_are_named_as_the_machine(
    used: Usage, figures: list[str]
) -> None:
    found = judged(used)
    assert found.cause == "machine"
    assert [figure for figure in figures if figure not in found.sentence] == []


def test_the_machine_says_who_has_the_cores() -> None:
    waiting = part(0.5, 0.5)
    assert "most of it went to others" in judged(usage(client=waiting, machine=1.0)).sentence
    threads = replace(part(0.5, 0.5), cores=2.5)
    alone = judged(usage(client=threads, broker=0.9, machine=1.0)).sentence
    assert "the load 2.5, the broker 0.9, others 0.6" in alone
    assert "try another machine for the load" in alone
    bound = judged(usage(client=waiting, machine=0.5)).sentence
    assert "taskset" in bound


def test_cores_that_others_keep_busy_are_no_limit_while_nobody_waits_for_one() -> None:
    found = judged(usage(client=part(0.05, 0.04), broker=part(0.03, 0.04), machine=1.0))
    assert found.cause == "window"
    assert "machine 100%" in found.sentence


def test_a_disk_is_the_limit_only_when_requests_are_in_line_for_it() -> None:
    used = usage(client=0.02, broker=0.05, disk=0.97)
    one = judged(used, in_flight=1.0, window=1, flush=SYNC)
    assert one.cause == "window"
    assert "waiting for its disk 97%" in one.sentence
    several = judged(used, in_flight=15.8, window=16, flush=SYNC)
    assert several.cause == "disk"
    assert judged(used, in_flight=1.9, window=2, flush=SYNC).cause == "disk"
    assert "SYNC_FLUSH" in several.sentence
    assert "more --in-flight" in several.sentence
    reading = judged(used, in_flight=0.0, window=0, unit="received", flush=SYNC)
    assert reading.cause == "disk"
    assert "--in-flight" not in reading.sentence


def test_sends_do_not_wait_for_a_flush_in_the_background() -> None:
    used = usage(broker=0.9, disk=0.97)
    assert judged(used, flush="ASYNC_FLUSH").cause == "broker"
    assert judged(used, flush=SYNC).cause == "disk"
    assert judged(usage(broker=0.99, disk=0.97), flush=SYNC).cause == "broker"


def test_a_disk_that_is_waited_for_half_of_the_time_is_the_limit_while_nobody_is_busy() -> None:
    assert judged(usage(disk=0.55), flush=SYNC).cause == "disk"
    assert judged(usage(disk=0.45), flush=SYNC).cause == "window"
    assert judged(usage(client=0.85, disk=0.55), flush=SYNC).cause == "client"
    short_of_cores = usage(client=part(0.1, 0.3), broker=part(0.1, 0.35), disk=0.55, machine=1.0)
    assert judged(short_of_cores, flush=SYNC).cause == "machine"


def test_a_disk_that_is_no_device_has_no_rate() -> None:
    found = judged(replace(usage(disk=0.93), is_disk_known=False))
    assert found.cause == "disk"
    assert "MB/s" not in found.sentence


def test_a_window_is_known_by_littles_law() -> None:
    found = judged(usage(), in_flight=255.0)
    assert found.cause == "window"
    assert "255 of 256" in found.sentence
    assert "25.50 ms" in found.sentence  # 255 in flight ÷ 10,000 a second
    assert found.sentence.endswith("try more --in-flight.")


def test_a_window_to_a_broker_elsewhere_is_said_with_a_doubt() -> None:
    found = judged(usage(broker=None))
    assert found.cause == "window"
    assert found.sentence.endswith("it is the broker or the network.")


def test_a_lane_that_handles_its_answer_is_no_room_in_the_window() -> None:
    assert judged(usage(client=0.4), in_flight=0.8, window=1).cause == "window"
    late = judged(usage(client=0.4), in_flight=0.8, window=1, wanted=20_000.0, unsent=90_000)
    assert late.cause == "unknown"


def test_a_rate_that_was_held_saturated_nothing() -> None:
    found = judged(usage(client=0.95), wanted=10_000.0)
    assert found.cause == "none"
    assert "was held" in found.sentence
    assert "client 95%" in found.sentence


def test_a_rate_that_was_not_held_says_so_and_why() -> None:
    found = judged(usage(client=0.95), wanted=20_000.0, unsent=50_000)
    assert found.cause == "client"
    assert found.sentence.startswith("20,000/s was not held.")


def test_a_count_that_took_longer_than_its_rate_is_a_rate_that_was_not_held() -> None:
    # 100,000 at 20,000/s are 5 s.
    assert judged(usage(client=0.95), wanted=20_000.0, overdue=0.5).cause == "none"
    found = judged(usage(client=0.95), wanted=20_000.0, overdue=5.0)
    assert found.cause == "client"
    assert found.sentence.startswith("20,000/s was not held.")


def test_a_rate_so_high_that_nothing_due_was_sent_is_not_held() -> None:
    found = judged(usage(client=0.95), wanted=1e6, messages=0, rate=0.0, unsent=1_000_000)
    assert found.cause == "client"
    counted = judged(usage(client=0.95), wanted=1e6, messages=0, rate=0.0)
    assert counted.sentence.startswith("1,000,000/s was not held.")


def test_consumers_that_fall_behind_are_no_rate_that_was_held() -> None:
    behind = consumers_behind(20_000, 10.0, 20_000, 14.0)
    assert behind == "Consumers needed 4.0 s more than the senders. "
    found = judged(
        usage(client=part(0.93, 0.01, 1)),
        wanted=2_000.0,
        behind=behind,
        workers=["sending worker 1", "receiving worker 1"],
    )
    assert found.cause == "client"
    assert found.sentence.startswith(behind + "The client's CPU: receiving worker 1 was busy 94%")
    assert "--processes" not in found.sentence  # one process receives


def test_more_processes_are_more_senders() -> None:
    both = ["sending worker 1", "sending worker 2", "receiving worker 1"]
    found = judged(usage(client=part(0.93, 0.01, 1)), workers=both)
    assert "sending worker 2 was busy 94%" in found.sentence
    assert "try --processes 3." in found.sentence


@pytest.mark.parametrize(
    ("received", "seconds", "text"),
    [
        (20_000, 10.9, ""),
        (20_000, 11.2, "1.2 s more"),
        (19_900, 10.0, ""),
        (15_000, 10.0, "15,000 of 20,000"),
    ],
)
def test_consumers_may_trail_by_a_second(received: int, seconds: float, text: str) -> None:
    said = consumers_behind(20_000, 10.0, received, seconds)
    assert bool(said) == bool(text)
    assert text in said


def test_consuming_that_nobody_limits_is_unknown_with_a_hint() -> None:
    found = judged(usage(), window=0, in_flight=0.0, unit="received")
    assert found.cause == "unknown"
    assert "--consumers" in found.sentence


def test_refusals_come_before_everything_else() -> None:
    found = judged(usage(broker=0.99), wanted=10.0, errors=500, first_error="busy")
    assert found.cause == "refused"
    assert "500 of 100,500" in found.sentence
    assert "(busy)" in found.sentence
    assert "broker 99%" in found.sentence


def test_nothing_at_all_is_said_to_be_nothing() -> None:
    assert judged(usage(), messages=0).sentence == "Nothing was sent."
