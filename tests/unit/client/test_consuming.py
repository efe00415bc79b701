from pathlib import Path

from aerobee.client.client import connect
from aerobee.client.consumer_options import consumer_options
from aerobee.client.consuming import consuming_of, offsets_of, subscriptions_of
from aerobee.client.offsets import BrokerOffsets, LocalOffsets
from tests.net_kit import in_loop
from tests.received_kit import received


def test_on_the_wire_names_are_in_their_namespace(tmp_path: Path) -> None:
    async def test() -> None:
        session = connect("localhost", namespace="shop")._session
        made = consuming_of(session, consumer_options("orders", group="g", tags="a"))
        assert made.calls.group == "shop%g"
        assert [(one.topic, one.expression) for one in subscriptions_of(made)] == [
            ("shop%orders", "a"),
            ("%RETRY%shop%g", "*"),
        ]
        assert isinstance(offsets_of(made), BrokerOffsets)

    in_loop(test)


def test_a_broadcasting_consumer_has_no_retries_and_its_own_offsets(tmp_path: Path) -> None:
    async def test() -> None:
        session = connect("localhost")._session
        options = consumer_options(
            "orders", group="g", model="broadcasting", offsets_folder=tmp_path
        )
        made = consuming_of(session, options)
        assert [one.topic for one in subscriptions_of(made)] == ["orders"]
        assert isinstance(offsets_of(made), LocalOffsets)

    in_loop(test)


def test_lanes_are_queues_or_keys() -> None:
    async def test() -> None:
        session = connect("localhost")._session
        by_queue = consuming_of(session, consumer_options("T", group="g", order="queue")).inbox
        by_queue.put(received(0, 1, holder="q"))
        assert (by_queue.take_nowait() is not None, by_queue.take_nowait()) == (True, None)
        by_key = consuming_of(session, consumer_options("T", group="g", order="key")).inbox
        for number, sharding in enumerate(("a", "a", "b")):
            by_key.put(received(number, holder="q", __SHARDINGKEY=sharding))
        by_key.put(received(3, 4, holder="q", KEYS="k other"))
        by_key.put(received(5, 6, holder="q"))
        out = []
        while (message := by_key.take_nowait()) is not None:
            out.append(message.offset)
        assert out == [0, 2, 3, 5, 6]

    in_loop(test)
