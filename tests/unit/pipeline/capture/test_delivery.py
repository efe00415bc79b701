"""Rows become messages; a state is saved behind them."""

import asyncio
import json

from aerobee.pipeline.capture.delivery import Delivery
from aerobee.pipeline.capture.envelope import Envelope, Op, Origin
from aerobee.pipeline.capture.meter import Meter
from aerobee.pipeline.capture.outlet import Outlet
from aerobee.pipeline.capture.position import CaptureState, Position
from aerobee.pipeline.capture.state_topic import StateTopic
from aerobee.pipeline.capture.table_schema import Column, Kind, TableName, TableSchema
from aerobee.pipeline.capture.tables import TopicNames
from tests.capture_kit import queues_of
from tests.server_kit import Server

_SCHEMA = TableSchema(TableName("deliver", "a"), (Column("k", Kind.INTEGER),), ("k",))
_ORIGIN = Origin(Position("b.000001", 100), 5, transaction="0-1-7")


def _deliver(server: Server, topics: TopicNames) -> Meter:
    meter = Meter(lag_seconds=2.5)

    async def run() -> None:
        async with server.connect() as client:
            states = StateTopic(client, "deliver")
            await states.load()
            state = CaptureState("deliver", Position("b.000001", 4))
            delivery = Delivery(Outlet(client, 2), states, state, topics, meter)
            version = _SCHEMA.version
            assert delivery.is_due(0)
            await delivery.row(_SCHEMA, version, _ORIGIN, {"k": 1})
            rows = [(None, {"k": 2}), ({"k": 2}, {"k": 3})]
            assert await delivery.rows(_SCHEMA, version, _ORIGIN, list(rows), 10) == 3
            await delivery.emptied(_SCHEMA.name, _ORIGIN)
            await delivery.save()
            assert not delivery.is_due(1000)
            saved = await StateTopic(client, "deliver").load()
            assert saved == delivery.state
            assert (saved.rows, saved.lag_seconds) == (5, 2.5)

    asyncio.run(run())
    return meter


def test_every_row_has_its_place_and_its_schema_is_announced_once(server: Server) -> None:
    meter = _deliver(server, TopicNames())
    found = [Envelope.decode(body) for queue in queues_of(server, "deliver-a") for body in queue]
    changes = sorted((one.sequence[-8:], one.op, one.after) for one in found)
    places = {one.after["k"]: one.transaction for one in found if one.after and one.op is Op.CREATE}
    assert [change[1] for change in changes] == ["c", "t", "t", "d", "r", "c"]
    assert places == {2: ("0-1-7", 10), 3: ("0-1-7", 12)}
    assert meter.rows == {"r": 1, "c": 2, "d": 1, "t": 1}
    announced = queues_of(server, "aerobee-capture-deliver-schemas")
    assert [json.loads(body)["version"] for body in announced[0]] == [_SCHEMA.version]
    versions = {one.source["schema"] for one in found if one.op is not Op.TRUNCATE}
    assert versions == {_SCHEMA.version}


def test_one_topic_takes_tables_with_equal_keys(server: Server) -> None:
    _deliver(server, TopicNames(topic="deliver-all"))
    found = [body for queue in queues_of(server, "deliver-all") for body in queue]
    assert {str(Envelope.decode(body).table) for body in found} == {"deliver.a"}
