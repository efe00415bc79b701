from datetime import UTC, datetime, timedelta

import pytest

from aerobee.client.api.client_options import ClientOptions
from aerobee.client.connection.session import Session
from aerobee.client.core.send.outgoing import Draft
from aerobee.client.send.drafts import (
    BatchOptions,
    Drafts,
    batch_options,
    compression_of,
    wall_ms_of,
)
from aerobee.errors import Misuse
from aerobee.model.flags import CompressionType, compression_type
from aerobee.sim.clock import SimClock


def drafts(namespace: str = "") -> Drafts:
    options = ClientOptions(("localhost:9876",), namespace=namespace, max_message_bytes=10_000)
    return Drafts(Session(options, clock=SimClock()))


def test_every_draft_has_an_id_of_its_own() -> None:
    made = drafts()
    ids = {made.draft("t", b"x").unique_id for _ in range(100)}
    assert len(ids) == 100
    assert {len(one) for one in ids} == {32}


def test_a_namespace_is_part_of_the_topic_and_said_in_the_properties() -> None:
    draft = drafts("shop").draft("orders", b"x")
    assert draft.topic == "shop%orders"
    assert draft.properties["INSTANCE_ID"] == "shop"


def test_a_topic_that_no_broker_would_take_is_refused() -> None:
    with pytest.raises(Misuse, match="holds '/'"):
        drafts().draft("a/b", b"x")


@pytest.mark.parametrize("delay", [90, 90.0, timedelta(minutes=1.5)])
def test_a_delay_is_seconds_or_a_timedelta(delay: timedelta | float) -> None:
    assert drafts().draft("t", b"x", delay=delay).properties["TIMER_DELAY_MS"] == "90000"


def test_a_time_of_delivery_needs_a_time_zone() -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert drafts().draft("t", b"x", deliver_at=noon).properties["TIMER_DELIVER_MS"] == str(
        wall_ms_of(noon)
    )
    assert wall_ms_of(noon) == 1_767_268_800_000
    with pytest.raises(Misuse, match="no time zone"):
        drafts().draft("t", b"x", deliver_at=noon.replace(tzinfo=None))


def kind_of(draft: Draft) -> CompressionType | None:
    return compression_type(draft.sys_flag)


def test_a_large_body_is_compressed_unless_that_is_off() -> None:
    made = drafts()
    assert kind_of(made.draft("t", b"a" * 4096)) is CompressionType.ZLIB
    assert kind_of(made.draft("t", b"a" * 4095)) is None
    assert kind_of(made.draft("t", b"a" * 4096, compress=False)) is None
    assert kind_of(made.draft("t", b"a" * 4096, compress="lz4")) is CompressionType.LZ4
    with pytest.raises(Misuse, match="gzip"):
        compression_of("gzip")


def test_the_limit_counts_what_is_sent() -> None:
    assert len(drafts().draft("t", b"a" * 20_000).body) < 1000
    with pytest.raises(Misuse, match="20000 bytes; at most 10000"):
        drafts().draft("t", b"a" * 20_000, compress=False)


def test_options_of_a_batch_are_what_was_said_and_the_rest_as_ever() -> None:
    assert batch_options("orders", 3.0) == BatchOptions("orders", 3.0)
    told = batch_options("orders", 3.0, timeout=timedelta(minutes=1), order_by="u", retries=0)
    assert told == BatchOptions("orders", 60.0, order_by="u", retries=0)
    assert batch_options("orders", 3.0, timeout=None, group="g").seconds == 3.0


def test_a_keyword_that_no_batch_takes_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(Misuse, match="a batch takes no orderby=") as caught:
        batch_options("orders", 3.0, orderby="u")  # type: ignore[call-arg]
    assert caught.value.hint == "did you mean order_by=?"
