import ssl
from datetime import timedelta
from typing import Any

import pytest

from aerobee.client.api.client_options import ClientOptions, options_for, seconds_of
from aerobee.client.core.send.latency_faults import LATENCY_TABLE
from aerobee.errors import Misuse
from aerobee.model.access import Credentials


@pytest.mark.parametrize(
    ("duration", "seconds"), [(1, 1.0), (0.5, 0.5), (timedelta(minutes=2), 120.0), (0, 0.0)]
)
def test_a_duration_is_a_timedelta_or_seconds(duration: Any, seconds: float) -> None:
    assert seconds_of(duration) == seconds


@pytest.mark.parametrize("duration", ["3s", None, True, -1, float("nan"), float("inf")])
def test_what_is_no_duration_is_refused_by_name(duration: Any) -> None:
    with pytest.raises(Misuse, match="linger"):
        seconds_of(duration, "linger")


def test_what_is_said_by_keyword_goes_before_the_target() -> None:
    told = Credentials("other", "secret")
    options = options_for("rmq://k:s@a/shop?tls=on", credentials=told, namespace="x", tls=False)
    assert options.credentials == told
    assert options.namespace == "x"
    assert options.tls is None


def test_nothing_said_is_what_the_options_say_of_themselves() -> None:
    assert options_for("a:1") == ClientOptions(("a:1",))


def test_everything_said_is_in_the_options() -> None:
    options = options_for(
        "a:1",
        namespace="shop",
        unit="u",
        timeout=timedelta(seconds=7),
        connect_timeout=2,
        max_message_bytes=100,
        trace=True,
    )
    assert options == ClientOptions(
        ("a:1",),
        namespace="shop",
        unit="u",
        timeout=7.0,
        connect_timeout=2.0,
        max_message_bytes=100,
        trace=True,
    )


def test_a_keyword_that_no_client_takes_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(Misuse, match="a client takes no timeot=") as caught:
        options_for("a", timeot=3)  # type: ignore[call-arg]
    assert caught.value.hint == "did you mean timeout=?"


def test_a_target_with_tls_is_checked_as_browsers_check() -> None:
    context = options_for("rmq://a?tls=on").tls
    assert context is not None
    assert context.verify_mode is ssl.CERT_REQUIRED


def test_no_time_at_all_is_refused() -> None:
    with pytest.raises(Misuse, match="timeout"):
        ClientOptions(("a:1",), timeout=0)


def test_slow_brokers_are_avoided_by_the_known_table_or_by_one_that_is_given() -> None:
    assert options_for("a").latency_table == ()
    assert options_for("a", avoid_slow_brokers=True).latency_table == LATENCY_TABLE
    assert options_for("a", avoid_slow_brokers=[(5, 100)]).latency_table == ((5, 100),)
