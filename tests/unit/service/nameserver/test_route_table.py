import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.model.route import QueueData
from aerobee.model.topic import DataVersion, TopicConfig
from aerobee.ports.service import ChannelId
from aerobee.protocol.bodies.register_broker import RegisterBroker
from aerobee.service.nameserver.route_table import (
    BrokerEntry,
    BrokerPlace,
    MinIdChange,
    Registered,
    RouteLimits,
    RouteTable,
)
from aerobee.sim.clock import SimClock

SYSTEM = (TopicConfig("TBW102", 8, 8, 7), TopicConfig("SELF_TEST_TOPIC", 1, 1))
ORDERS = TopicConfig("Orders", 4, 4)
CHANNEL = ChannelId(1)
OTHER = ChannelId(2)


def place(
    name: str = "a", broker_id: int = 0, address: str = "h:1", cluster: str = "c"
) -> BrokerPlace:
    return BrokerPlace(cluster, name, broker_id, address)


class Table:
    """A route table and its clock."""

    def __init__(self, **limits: int) -> None:
        self.clock = SimClock()
        self.table = RouteTable(RouteLimits(**limits))

    def register(
        self,
        *topics: TopicConfig,
        where: BrokerPlace | None = None,
        version: DataVersion | None = None,
        channel: ChannelId = CHANNEL,
        expiry_ms: int = 120_000,
        zone: str = "",
        acting: bool | None = False,
        mappings: dict[str, dict[str, int]] | None = None,
    ) -> Registered:
        upload = RegisterBroker(
            {topic.name: topic for topic in topics},
            version or DataVersion(),
            dict(mappings or {}),  # type: ignore[arg-type]
        )
        where = where or place()
        return self.table.register(
            BrokerEntry(where, upload, expiry_ms, f"ha-{where.address}", zone, acting),
            channel,
            self.clock.now(),
        )

    def queues(self, topic: str) -> dict[str, int] | None:
        """Read queues by broker."""
        route = self.table.find_route(topic)
        return {q.broker_name: q.read_queues for q in route.queues} if route else None

    def permission(self, topic: str, broker: str = "a") -> int:
        route = self.table.find_route(topic)
        assert route is not None
        return next(q.permission for q in route.queues if q.broker_name == broker)

    def addresses(self, name: str = "a") -> dict[int, str] | None:
        broker = self.table.find_broker(name)
        return dict(broker.addresses) if broker else None


def test_a_route_has_the_queues_and_addresses_of_every_broker_with_the_topic() -> None:
    t = Table()
    t.register(*SYSTEM, ORDERS)
    t.register(*SYSTEM, TopicConfig("Orders", 8, 2, 4, 1), where=place("b", 0, "h:2"))
    t.register(*SYSTEM, where=place("d", 0, "h:3"))
    route = t.table.find_route("Orders")
    assert route is not None
    assert route.queues == (QueueData("a", 4, 4, 6, 0), QueueData("b", 8, 2, 4, 1))
    assert [(b.cluster, b.name, b.addresses) for b in route.brokers] == [
        ("c", "a", {0: "h:1"}),
        ("c", "b", {0: "h:2"}),
    ]
    assert t.table.find_route("orders") is None


def test_topics_that_a_later_upload_leaves_out_are_kept() -> None:
    t = Table()
    t.register(*SYSTEM, ORDERS)
    t.register(*SYSTEM, version=DataVersion(0, 1, 0))
    assert t.queues("Orders") == {"a": 4}


def test_concurrent_changes_under_one_version_are_all_taken() -> None:
    """Two topics change before either is registered: both uploads bear the last version."""
    t = Table()
    t.register(*SYSTEM, ORDERS, TopicConfig("Bills", 4, 4), version=DataVersion(0, 0, 1))
    last = DataVersion(0, 2, 3)
    t.register(TopicConfig("Orders", 8, 8), version=last)
    t.register(TopicConfig("Bills", 16, 16), version=last)
    assert t.queues("Orders") == {"a": 8}
    assert t.queues("Bills") == {"a": 16}


def test_an_upload_that_was_overtaken_changes_nothing_that_is_known() -> None:
    t = Table()
    t.register(*SYSTEM, ORDERS)
    t.register(TopicConfig("Orders", 8, 8), version=DataVersion(0, 2, 0))
    t.register(TopicConfig("Orders", 6, 6), version=DataVersion(0, 1, 0))
    t.register(TopicConfig("Bills", 1, 1), version=DataVersion(0, 1, 0))
    assert t.queues("Orders") == {"a": 8}
    assert t.queues("Bills") == {"a": 1}
    assert t.table.find_version(place()) == DataVersion(0, 2, 0)


def test_a_broker_that_counts_from_0_again_is_believed_over_a_new_connection() -> None:
    t = Table()
    t.register(*SYSTEM, ORDERS, version=DataVersion(0, 9, 0))
    t.register(*SYSTEM, TopicConfig("Orders", 1, 1), version=DataVersion(0, 0, 9), channel=OTHER)
    assert t.queues("Orders") == {"a": 1}
    assert t.table.find_version(place()) == DataVersion(0, 0, 9)


@pytest.mark.parametrize(
    ("counter", "is_current"),
    [(0, True), (1, True), (2, False)],
)
def test_a_small_upload_is_current_unless_changes_were_missed(
    counter: int, is_current: bool
) -> None:
    t = Table()
    t.register(*SYSTEM, ORDERS)
    version = DataVersion(0, counter, 0)
    t.register(ORDERS, version=version)
    assert t.table.is_current(place(), version) == is_current
    t.register(*SYSTEM, ORDERS, version=version)
    assert t.table.is_current(place(), version)
    assert not t.table.is_current(place(), DataVersion(0, counter, 1))
    assert not t.table.is_current(place(address="h:9"), version)


def test_what_was_missed_stays_missed_until_everything_comes_again() -> None:
    t = Table()
    t.register(*SYSTEM, ORDERS)
    t.register(ORDERS, version=DataVersion(0, 2, 0))
    t.register(ORDERS, version=DataVersion(0, 3, 0))
    assert not t.table.is_current(place(), DataVersion(0, 3, 0))


def test_a_broker_that_is_not_known_cannot_begin_with_one_topic() -> None:
    t = Table()
    with pytest.raises(RemoteProtocolError, match="all its topics"):
        t.register(ORDERS)
    assert t.addresses() is None
    t.register()
    assert t.addresses() == {0: "h:1"}


def test_an_address_under_another_id_loses_the_first() -> None:
    t = Table()
    t.register(*SYSTEM, where=place(broker_id=1))
    t.register(*SYSTEM, where=place(broker_id=0))
    assert t.addresses() == {0: "h:1"}


def test_an_id_at_another_address_is_the_later_one() -> None:
    t = Table()
    t.register(*SYSTEM, version=DataVersion(1, 0, 0))
    t.register(*SYSTEM, where=place(address="h:2"), version=DataVersion(1, 0, 0), channel=OTHER)
    assert t.addresses() == {0: "h:2"}
    t.table.drop_channel(CHANNEL)
    assert t.addresses() == {0: "h:2"}


def test_an_old_master_does_not_take_the_id_of_its_successor() -> None:
    t = Table()
    t.register(*SYSTEM, version=DataVersion(2, 0, 0))
    t.register(*SYSTEM, ORDERS, where=place(address="h:2"), version=DataVersion(1, 0, 0))
    assert t.addresses() == {0: "h:1"}
    assert t.queues("Orders") is None


def test_the_newest_term_of_a_name_is_known_as_long_as_one_of_its_brokers_is_there() -> None:
    t = Table()
    assert t.table.find_term("a") == 0
    t.register(*SYSTEM, where=place(broker_id=1, address="h:2"), channel=OTHER)
    t.register(*SYSTEM, version=DataVersion(3, 0, 0))
    t.register(*SYSTEM, where=place(broker_id=1, address="h:2"), channel=OTHER)
    t.table.drop_channel(CHANNEL)
    assert (t.addresses(), t.table.find_term("a")) == ({1: "h:2"}, 3)
    t.table.drop_channel(OTHER)
    assert t.table.find_term("a") == 0


def test_a_slave_is_told_its_master_and_uploads_no_topics() -> None:
    t = Table()
    assert t.register(*SYSTEM) == Registered()
    told = t.register(*SYSTEM, ORDERS, where=place(broker_id=1, address="h:2"), channel=OTHER)
    assert told == Registered("h:1", "ha-h:1")
    assert t.addresses() == {0: "h:1", 1: "h:2"}
    assert t.queues("Orders") is None


def test_without_a_master_the_first_slave_uploads_topics_unless_it_is_old() -> None:
    t = Table()
    slave = place(broker_id=2, address="h:2")
    assert t.register(*SYSTEM, ORDERS, where=slave, acting=None) == Registered()
    assert t.queues("Orders") is None
    t.register(*SYSTEM, ORDERS, where=slave, acting=False)
    assert t.queues("Orders") == {"a": 4}
    assert t.permission("Orders") == 6


def test_a_slave_that_stands_in_lends_no_write_permission_until_the_master_is_back() -> None:
    t = Table()
    t.register(*SYSTEM, ORDERS, acting=True)
    t.register(*SYSTEM, ORDERS, where=place(broker_id=3, address="h:2"), channel=OTHER, acting=True)
    t.register(*SYSTEM, ORDERS, where=place(broker_id=4, address="h:4"), channel=OTHER, acting=True)
    assert t.permission("Orders") == 6
    t.table.drop_channel(CHANNEL)
    assert t.permission("Orders") == 4
    route = t.table.find_route("Orders")
    shown = t.table.find_route("Orders", shows_acting_master=True)
    assert route is not None
    assert shown is not None
    assert route.brokers[0].addresses == {3: "h:2", 4: "h:4"}
    assert shown.brokers[0].addresses == {0: "h:2", 4: "h:4"}
    t.register(*SYSTEM, ORDERS, acting=True)
    assert t.permission("Orders") == 6


def test_a_change_of_the_smallest_id_is_told_once_where_a_slave_may_act_as_master() -> None:
    t = Table()
    one, two = place(broker_id=1, address="h:1"), place(broker_id=2, address="h:2")
    t.register(*SYSTEM, where=two, channel=OTHER, acting=True)
    assert t.table.take_min_changes() == []  # the first of its name finds nobody
    t.register(*SYSTEM, where=one, acting=True)
    came = MinIdChange({1: "h:1", 2: "h:2"}, ha_address="ha-h:1")
    assert t.table.take_min_changes() == [came]
    t.register(*SYSTEM, where=one, acting=True)
    assert t.table.take_min_changes() == []
    t.table.drop_channel(CHANNEL)
    assert t.table.take_min_changes() == [MinIdChange({2: "h:2"}, offline_address="h:1")]
    t.register(*SYSTEM, where=place(address="h:2"), channel=OTHER, acting=True)  # promoted
    assert t.table.take_min_changes() == [MinIdChange({0: "h:2"}, ha_address="ha-h:2")]
    t.register(*SYSTEM, where=one, acting=True)
    t.table.unregister(one)  # not the smallest
    t.table.drop_channel(OTHER)  # the last of its name
    assert t.table.take_min_changes() == []


@pytest.mark.parametrize("acting", [False, None])
def test_no_change_of_the_smallest_id_is_told_where_no_slave_acts(acting: bool | None) -> None:
    t = Table()
    t.register(*SYSTEM, where=place(broker_id=1), acting=acting)
    t.register(*SYSTEM, where=place(address="h:2"), channel=OTHER, acting=acting)
    t.table.drop_channel(OTHER)
    assert t.table.take_min_changes() == []


def test_brokers_see_among_themselves_who_is_really_there() -> None:
    t = Table()
    topic = TopicConfig("rmq_sys_SYNC_BROKER_MEMBER_a", 1, 1, 1)
    t.register(*SYSTEM, topic, where=place(broker_id=3), acting=True)
    route = t.table.find_route(topic.name, shows_acting_master=True)
    assert route is not None
    assert route.brokers[0].addresses == {3: "h:1"}


def test_a_closed_connection_takes_its_brokers_with_it_and_no_other() -> None:
    t = Table()
    t.register(*SYSTEM, ORDERS)
    t.register(*SYSTEM, ORDERS, where=place("b", 0, "h:2"))
    t.register(*SYSTEM, ORDERS, where=place("d", 0, "h:3"), channel=OTHER)
    assert t.table.drop_channel(CHANNEL) == ["h:1", "h:2"]
    assert t.queues("Orders") == {"d": 4}
    assert t.table.drop_channel(CHANNEL) == []


def test_a_broker_that_came_back_over_another_connection_survives_the_close_of_the_first() -> None:
    t = Table()
    t.register(*SYSTEM)
    t.register(*SYSTEM, channel=OTHER)
    assert t.table.drop_channel(CHANNEL) == []
    assert t.addresses() == {0: "h:1"}


def test_who_falls_silent_goes_after_its_own_time() -> None:
    t = Table()
    t.register(*SYSTEM)
    t.register(*SYSTEM, where=place("b", 0, "h:2"), channel=OTHER, expiry_ms=10_000)
    assert t.table.drop_silent(t.clock.advance(10_000)) == ([], set())
    assert t.table.drop_silent(t.clock.advance(1)) == (["h:2"], {OTHER})
    t.table.refresh(place(), t.clock.advance(100_000))
    t.table.refresh(place("b", 0, "h:2"), t.clock.now())
    assert t.table.drop_silent(t.clock.advance(120_000)) == ([], set())
    assert t.table.drop_silent(t.clock.advance(1)) == (["h:1"], {CHANNEL})
    assert t.table.cluster_info().brokers == ()


def test_a_connection_that_somebody_is_left_on_stays_open() -> None:
    t = Table()
    t.register(*SYSTEM)
    t.register(*SYSTEM, where=place("b", 0, "h:2"), expiry_ms=1)
    assert t.table.drop_silent(t.clock.advance(2)) == (["h:2"], set())


def test_the_wall_clock_may_jump() -> None:
    t = Table()
    t.register(*SYSTEM)
    assert t.table.drop_silent(t.clock.jump_wall(10**9)) == ([], set())


def test_unregister_removes_one_process() -> None:
    t = Table()
    t.register(*SYSTEM, ORDERS)
    t.register(*SYSTEM, where=place(broker_id=1, address="h:2"))
    t.table.unregister(place(cluster="other"))
    t.table.unregister(place(name="b"))
    assert t.addresses() == {0: "h:1", 1: "h:2"}
    t.table.unregister(place())
    assert t.addresses() == {1: "h:2"}
    t.table.unregister(place(broker_id=1, address="h:2"))
    assert t.table.topics() == []


def test_a_name_belongs_to_one_cluster() -> None:
    t = Table()
    t.register(*SYSTEM, ORDERS)
    with pytest.raises(RemoteProtocolError, match="broker a is in cluster c, not in x"):
        t.register(*SYSTEM, where=place(cluster="x", address="h:2"))
    t.register(*SYSTEM, where=place(broker_id=1, address="h:3"), channel=OTHER)
    with pytest.raises(RemoteProtocolError, match="broker a is in cluster c, not in x"):
        t.register(*SYSTEM, where=place(cluster="x"))
    t.table.drop_channel(OTHER)
    t.register(*SYSTEM, where=place(cluster="x"))
    assert t.table.cluster_info().names_by_cluster() == {"x": ["a"]}
    assert t.queues("Orders") is None


def test_a_wiped_permission_comes_back_as_it_was() -> None:
    t = Table()
    t.register(*SYSTEM, ORDERS, TopicConfig("ReadOnly", 1, 1, 4))
    t.register(*SYSTEM, where=place("b", 0, "h:2"))
    assert t.table.set_wiped("a", is_wiped=True) == 4
    assert [t.permission(name) for name in ("TBW102", "Orders", "ReadOnly")] == [5, 4, 4]
    assert t.permission("TBW102", "b") == 7
    t.register(*SYSTEM, ORDERS, TopicConfig("New", 1, 1), version=DataVersion(0, 1, 0))
    assert t.permission("New") == 4
    assert t.table.set_wiped("a", is_wiped=False) == 5
    assert [t.permission(name) for name in ("TBW102", "Orders", "ReadOnly")] == [7, 6, 4]
    assert t.table.set_wiped("nobody", is_wiped=True) == 0


def test_a_wiped_broker_that_starts_again_may_be_written_to() -> None:
    t = Table()
    t.register(*SYSTEM)
    t.table.set_wiped("a", is_wiped=True)
    t.table.drop_channel(CHANNEL)
    t.register(*SYSTEM)
    assert t.permission("TBW102") == 7


def test_a_topic_is_forgotten_in_one_cluster_or_in_all() -> None:
    t = Table()
    t.register(*SYSTEM, ORDERS)
    t.register(*SYSTEM, ORDERS, where=place("b", 0, "h:2", "other"))
    t.table.forget_topic("Orders", "other")
    assert t.queues("Orders") == {"a": 4}
    t.table.forget_topic("Orders")
    assert t.queues("Orders") is None
    t.register(*SYSTEM, ORDERS)
    assert t.queues("Orders") == {"a": 4}


def test_one_topic_is_added_to_brokers_that_are_all_known() -> None:
    t = Table()
    t.register(*SYSTEM)
    with pytest.raises(RemoteProtocolError, match="broker z is not registered"):
        t.table.add_topic("New", [QueueData("a", 1, 1, 6, 0), QueueData("z", 1, 1, 6, 0)])
    assert t.queues("New") is None
    t.table.add_topic("New", [QueueData("a", 3, 1, 6, 0)])
    assert t.queues("New") == {"a": 3}


def test_topics_are_listed_once_by_cluster_and_by_unit() -> None:
    t = Table()
    t.register(*SYSTEM, TopicConfig("U", sys_flag=1), TopicConfig("S", sys_flag=2))
    t.register(*SYSTEM, TopicConfig("US", sys_flag=3), where=place("b", 0, "h:2", "other"))
    assert t.table.topics() == ["TBW102", "SELF_TEST_TOPIC", "U", "S", "US"]
    assert t.table.topics("other") == ["TBW102", "SELF_TEST_TOPIC", "US"]
    assert t.table.topics("none") == []
    assert t.table.topics_by_unit(is_unit=True, has_subscription=None) == ["U", "US"]
    assert t.table.topics_by_unit(is_unit=None, has_subscription=True) == ["S", "US"]
    assert t.table.topics_by_unit(is_unit=False, has_subscription=True) == ["S"]


def test_a_zone_sees_its_own_brokers_and_those_without_a_master() -> None:
    t = Table()
    t.register(*SYSTEM, ORDERS, zone="Z1")
    t.register(*SYSTEM, ORDERS, where=place("b", 0, "h:2"), zone="Z2")
    t.register(*SYSTEM, ORDERS, where=place("d", 1, "h:3"), zone="Z2")
    route = t.table.find_route("Orders", zone="z1")
    assert route is not None
    assert [q.broker_name for q in route.queues] == ["a", "d"]
    assert [(b.name, b.zone) for b in route.brokers] == [("a", "Z1"), ("d", "Z2")]


def test_what_a_static_topic_maps_to_is_passed_on() -> None:
    t = Table()
    t.register(*SYSTEM, ORDERS, mappings={"Orders": {"totalQueues": 4}, "Unknown": {}})
    route = t.table.find_route("Orders")
    assert route is not None
    assert route.mappings == {"a": {"totalQueues": 4}}


def test_mappings_of_all_brokers_are_bounded_by_their_bytes() -> None:
    large = {"x" * 40: 1}  # 46 bytes when it is written
    t = Table(mapping_bytes_max=95)
    t.register(*SYSTEM, ORDERS, mappings={"Orders": large})
    t.register(*SYSTEM, ORDERS, mappings={"Orders": large})  # the same again is no more
    other = place("b", 0, "h:2")
    t.register(*SYSTEM, ORDERS, where=other, mappings={"Orders": large})
    with pytest.raises(RemoteProtocolError, match="more than 95 bytes of mappings"):
        t.register(*SYSTEM, ORDERS, where=place("c", 0, "h:3"), mappings={"Orders": {"y": 1}})
    with pytest.raises(RemoteProtocolError, match="more than 95 bytes of mappings"):
        t.register(*SYSTEM, ORDERS, mappings={"Orders": large | {"y" * 40: 1}})
    assert set(t.queues("Orders") or ()) == {"a", "b"}
    t.table.unregister(other)
    t.register(*SYSTEM, ORDERS, where=place("c", 0, "h:3"), mappings={"Orders": {"y": 1}})
    t.table.forget_topic("Orders")
    t.register(*SYSTEM, ORDERS, mappings={"Orders": large | {"y" * 40: 1}})


@pytest.mark.parametrize(
    ("limits", "where", "topics", "said"),
    [
        ({"brokers_max": 1}, place("b", 0, "h:2"), SYSTEM, "1 brokers already"),
        ({"members_max": 1}, place("a", 1, "h:2"), SYSTEM, "broker a has 1 members already"),
        ({"topics_max": 3}, place("b", 0, "h:2"), SYSTEM, "more than 3 topics"),
        ({"name_chars_max": 20}, place("b" * 21, 0, "h:2"), SYSTEM, "21 characters"),
        ({"name_chars_max": 20}, place("", 0, "h:2"), SYSTEM, "0 characters"),
        ({}, place("b", 0, "h:2"), (*SYSTEM, TopicConfig("t" * 256)), "256 characters"),
    ],
)
def test_what_is_over_a_limit_is_refused_and_leaves_no_trace(
    limits: dict[str, int], where: BrokerPlace, topics: tuple[TopicConfig, ...], said: str
) -> None:
    t = Table(**limits)
    t.register(*SYSTEM)
    before = t.table.cluster_info(), t.table.topics()
    with pytest.raises(RemoteProtocolError, match=said):
        t.register(*topics, where=where)
    assert (t.table.cluster_info(), t.table.topics()) == before
    t.register(*SYSTEM)


def test_an_added_topic_counts_against_the_limit() -> None:
    t = Table(topics_max=3)
    t.register(*SYSTEM)
    t.table.add_topic("x", [QueueData("a", 1, 1, 6, 0)])
    t.table.add_topic("x", [QueueData("a", 2, 2, 6, 0)])
    with pytest.raises(RemoteProtocolError, match="more than 3 topics"):
        t.table.add_topic("y", [QueueData("a", 1, 1, 6, 0)])
