import pytest

from aerobee.model.route import ClusterInfo, QueueData, TopicRoute
from aerobee.model.topic import DataVersion, TopicConfig
from aerobee.ports.service import ChannelId
from aerobee.protocol.bodies.register_broker import (
    RegisterBroker,
    body_crc,
    encode_compressed_register_broker,
    encode_register_broker,
)
from aerobee.protocol.bodies.small_tables import decode_text_table, decode_topic_list
from aerobee.protocol.bodies.topic_config import encode_data_version
from aerobee.protocol.bodies.topic_route import (
    decode_cluster_info,
    decode_topic_route,
    encode_topic_route,
)
from aerobee.service.nameserver.config import NameServerConfig
from tests.nameserver_kit import BROKER, CHANGES_PATH, KEY_VALUES_PATH, NameServerKit, place

TEMPLATE = TopicConfig("TBW102", 8, 8, 7)
ORDERS = TopicConfig("Orders", 4, 4)
SLAVE = "10.0.0.2:10911"


def kit(**config: bool) -> NameServerKit:
    """A name server with one broker."""
    made = NameServerKit(NameServerConfig(**config))
    assert made.register(TEMPLATE, ORDERS).code == 0
    return made


# Brokers.


def test_a_master_that_registers_is_told_nothing() -> None:
    answer = NameServerKit().register(TEMPLATE, ORDERS)
    assert (answer.code, answer.ext_fields, answer.body) == (0, {}, b"")


def test_a_slave_that_registers_is_told_its_master() -> None:
    answer = kit().register(TEMPLATE, ORDERS, broker_id=1, address=SLAVE, channel=ChannelId(5))
    assert answer.ext_fields == {"masterAddr": "10.0.0.1:10911", "haServerAddr": "10.0.0.1:10912"}


def test_a_broker_that_registers_gets_the_order_configuration_unless_that_is_off() -> None:
    for is_on in (True, False):
        made = kit(has_order_in_registrations=is_on)
        made.ask(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "Orders", "value": "broker-a:4"})
        body = bytes(made.register(TEMPLATE, ORDERS).body)
        assert body == (b'{"table":{"Orders":"broker-a:4"}}' if is_on else b"")


def test_a_compressed_registration_counts_as_much() -> None:
    made = NameServerKit()
    body = encode_compressed_register_broker(
        RegisterBroker({"TBW102": TEMPLATE, "Orders": ORDERS}, DataVersion())
    )
    fields = place() | {"compressed": "true", "bodyCrc32": str(body_crc(body))}
    assert made.ask(103, fields, body, channel=BROKER).code == 0
    assert made.ask(105, {"topic": "Orders"}).code == 0


def test_a_registration_whose_checksum_is_wrong_is_refused_unless_it_is_0() -> None:
    made = NameServerKit()
    answer = made.register(TEMPLATE, ORDERS, fields={"bodyCrc32": "1"})
    assert (answer.code, answer.remark) == (1, "bodyCrc32 is not that of the body")
    assert made.register(TEMPLATE, ORDERS, fields={"bodyCrc32": "0"}).code == 0


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("brokerId", "x", "brokerId"),
        ("brokerId", "-1", "brokerId"),
        ("brokerId", "9" * 20, "brokerId"),
        ("brokerAddr", "nowhere", "brokerAddr"),
        ("brokerAddr", 'h:1,1:"evil:2', "brokerAddr"),
        ("brokerAddr", "h :1", "brokerAddr"),
        ("brokerAddr", "h" * 300 + ":1", "brokerAddr"),
        ("brokerName", "", "0 characters"),
        ("brokerName", "b" * 256, "256 characters"),
        ("clusterName", "", "0 characters"),
        ("heartbeatTimeoutMillis", "0", "heartbeatTimeoutMillis"),
        ("heartbeatTimeoutMillis", "3600001", "heartbeatTimeoutMillis"),
        ("bodyCrc32", "x", "bodyCrc32"),
    ],
)
def test_a_registration_with_a_bad_field_is_refused_by_its_name(
    field: str, text: str, said: str
) -> None:
    made = NameServerKit()
    answer = made.register(TEMPLATE, ORDERS, fields={field: text})
    assert answer.code == 1
    assert said in answer.remark
    assert decode_cluster_info(bytes(made.ask(106).body)) == ClusterInfo(())


def test_a_broker_of_its_own_expiry_goes_when_it_says() -> None:
    made = NameServerKit()
    made.register(TEMPLATE, ORDERS, fields={"heartbeatTimeoutMillis": "10000"})
    made.pass_time(10_000)
    assert made.ask(105, {"topic": "Orders"}).code == 0
    made.pass_time(6_000)
    assert made.ask(105, {"topic": "Orders"}).code == 17
    assert made.closed == [BROKER]


def test_a_broker_that_says_nothing_goes_after_two_minutes() -> None:
    made = kit()
    made.pass_time(120_000)
    assert made.ask(105, {"topic": "Orders"}).code == 0
    made.pass_time(5_000)
    assert made.ask(105, {"topic": "Orders"}).code == 17


def test_a_slave_that_knows_nothing_of_acting_uploads_no_topics() -> None:
    made = NameServerKit()
    upload = RegisterBroker({"TBW102": TEMPLATE, "Orders": ORDERS})
    fields = place(broker_id=1)
    assert made.ask(103, fields, encode_register_broker(upload)).code == 0
    assert made.ask(105, {"topic": "Orders"}).code == 17
    fields["enableActingMaster"] = "false"
    assert made.ask(103, fields, encode_register_broker(upload)).code == 0
    assert made.ask(105, {"topic": "Orders"}).code == 0


def test_unregister_takes_a_broker_out() -> None:
    made = kit()
    assert made.ask(104, place(), channel=BROKER).code == 0
    assert made.ask(105, {"topic": "Orders"}).code == 17


def test_a_question_for_the_version_says_whether_to_register_and_keeps_the_broker() -> None:
    made = kit()
    version = DataVersion(0, 0, 1)
    for _ in range(3):
        made.pass_time(60_000)
        answer = made.ask(322, place(), encode_data_version(version), channel=BROKER)
        assert answer.ext_fields == {"changed": "false"}
        assert answer.body == encode_data_version(version)
    made.pass_time(60_000)
    made.tell(322, place(), encode_data_version(version))
    made.pass_time(60_000)
    answer = made.ask(322, place(), encode_data_version(DataVersion(0, 1, 1)), channel=BROKER)
    assert answer.ext_fields == {"changed": "true"}
    unknown = made.ask(322, place("other"), encode_data_version(version))
    assert (unknown.ext_fields, unknown.body) == ({"changed": "true"}, b"")


def test_a_heartbeat_keeps_the_broker() -> None:
    made = kit()
    for _ in range(3):
        made.pass_time(60_000)
        assert made.ask(904, place(), channel=BROKER).code == 0
    assert made.ask(105, {"topic": "Orders"}).code == 0


def test_the_members_of_a_group_are_those_of_one_name() -> None:
    made = kit()
    fields = {"clusterName": "DefaultCluster", "brokerName": "broker-a"}
    assert bytes(made.ask(901, fields).body) == (
        b'{"brokerMemberGroup":{"brokerAddrs":{0:"10.0.0.1:10911"},"brokerName":"broker-a",'
        b'"cluster":"DefaultCluster"}}'
    )
    assert made.ask(901, fields).ext_fields == {"term": "0"}
    echoed = made.ask(901, {"clusterName": "elsewhere", "brokerName": "broker-a"})
    assert bytes(echoed.body).endswith(b'"cluster":"elsewhere"}}')
    unknown = made.ask(901, {"clusterName": "c", "brokerName": "b"})
    assert unknown.code == 0
    assert b'"brokerAddrs":{}' in bytes(unknown.body)


def test_one_topic_is_registered_on_brokers_that_are_there() -> None:
    made = kit()
    for broker, code in (("broker-a", 0), ("broker-z", 1)):
        route = TopicRoute((QueueData(broker, 2, 2, 6, 0),), ())
        body = encode_topic_route(route, is_standard=True)
        assert made.ask(217, {"topic": "New"}, body).code == code
    route = decode_topic_route(bytes(made.ask(105, {"topic": "New"}).body))
    assert route.queues == (QueueData("broker-a", 2, 2, 6, 0),)


# Routes.


@pytest.mark.parametrize(
    ("version", "fields", "is_standard"),
    [
        (513, {}, True),
        (401, {}, True),
        (400, {}, False),
        (317, {}, False),
        (0, {}, False),
        (317, {"acceptStandardJsonOnly": "true"}, True),
    ],
)
def test_a_route_is_written_for_whoever_asks(
    version: int, fields: dict[str, str], is_standard: bool
) -> None:
    body = bytes(kit().ask(105, {"topic": "Orders", **fields}, version=version).body)
    key = b'"brokerAddrs":{"0":"' if is_standard else b'"brokerAddrs":{0:"'
    assert key in body
    assert b" " not in body


def test_a_topic_that_nobody_has_is_answered_17_with_its_name() -> None:
    answer = kit().ask(105, {"topic": "Nobody"})
    assert answer.code == 17
    assert "Nobody" in answer.remark


def test_the_order_configuration_is_in_routes_only_where_that_is_on() -> None:
    for is_on in (True, False):
        made = kit(has_order_in_routes=is_on)
        made.ask(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "Orders", "value": "broker-a:4"})
        route = decode_topic_route(bytes(made.ask(105, {"topic": "Orders"}).body))
        assert route.order_conf == ("broker-a:4" if is_on else "")
        assert b"orderTopicConf" not in bytes(made.ask(105, {"topic": "TBW102"}).body)


def test_routes_wait_for_brokers_where_that_is_on() -> None:
    made = kit(waits_for_brokers=True)
    made.pass_time(44_000)
    assert made.ask(105, {"topic": "Orders"}).code == 1
    made.pass_time(1_000)
    assert made.ask(105, {"topic": "Orders"}).code == 0


def test_a_zone_counts_only_in_zone_mode() -> None:
    made = kit()
    asked = {"topic": "Orders", "__ZONE_NAME": "z2"}
    made.register(TEMPLATE, ORDERS, fields={"__ZONE_NAME": "z1"})
    assert made.ask(105, asked).code == 0
    assert made.ask(105, {**asked, "__ZONE_MODE": "true"}).code == 17


def test_topics_are_listed() -> None:
    made = kit()
    made.register(
        TopicConfig("U", sys_flag=1),
        TopicConfig("S", sys_flag=2),
        name="broker-b",
        address=SLAVE,
        channel=ChannelId(5),
    )

    def listed(code: int, **fields: str) -> list[str]:
        return decode_topic_list(bytes(made.ask(code, fields).body))

    assert listed(206) == ["TBW102", "Orders", "U", "S"]
    assert listed(224, cluster="DefaultCluster") == ["TBW102", "Orders", "U", "S"]
    assert listed(224, cluster="Other") == []
    assert listed(304) == ["DefaultCluster", "broker-a", "broker-b"]
    assert listed(311) == ["U"]
    assert listed(312) == ["S"]
    assert listed(313) == ["S"]
    assert b'"brokerAddr":"10.0.0.1:10911"' in bytes(made.ask(304).body)


@pytest.mark.parametrize("code", [206, 224, 311, 312, 313])
def test_lists_can_be_switched_off(code: int) -> None:
    answer = kit(lists_all_topics=False, lists_topics=False).ask(code, {"cluster": "c"})
    assert answer.code == 1
    assert "switched off" in answer.remark


def test_write_permission_is_wiped_and_restored_and_counted() -> None:
    made = kit()

    def permission() -> int:
        route = decode_topic_route(bytes(made.ask(105, {"topic": "Orders"}).body))
        return route.queues[0].permission

    assert made.ask(205, {"brokerName": "broker-a"}).ext_fields == {"wipeTopicCount": "2"}
    assert permission() == 4
    assert made.ask(327, {"brokerName": "broker-a"}).ext_fields == {"addTopicCount": "2"}
    assert permission() == 6
    assert made.ask(205, {"brokerName": "nobody"}).ext_fields == {"wipeTopicCount": "0"}


def test_a_deleted_topic_has_no_route() -> None:
    made = kit()
    assert made.ask(216, {"topic": "Orders", "clusterName": "Other"}).code == 0
    assert made.ask(105, {"topic": "Orders"}).code == 0
    assert made.ask(216, {"topic": "Orders"}).code == 0
    assert made.ask(105, {"topic": "Orders"}).code == 17


# Key-values and configuration.


def test_key_values_are_put_read_listed_and_deleted() -> None:
    made = NameServerKit()
    named = {"namespace": "n", "key": "k"}
    assert made.ask(101, named).code == 22
    assert made.ask(219, {"namespace": "n"}).code == 22
    assert made.ask(100, {**named, "value": "v"}).code == 0
    assert made.disk.read(KEY_VALUES_PATH) == b'{"configTable":{"n":{"k":"v"}}}'
    assert made.ask(101, named).ext_fields == {"value": "v"}
    assert decode_text_table(bytes(made.ask(219, {"namespace": "n"}).body)) == {"k": "v"}
    assert made.ask(102, named).code == 0
    assert made.ask(101, named).code == 22


def test_a_key_value_that_cannot_be_saved_is_answered_with_the_reason() -> None:
    made = NameServerKit()
    made.disk.make_directory(KEY_VALUES_PATH)
    answer = made.ask(100, {"namespace": "n", "key": "k", "value": "v"})
    assert answer.code == 1
    assert "not saved" in answer.remark


def test_the_configuration_is_shown_and_changed() -> None:
    made = NameServerKit()
    assert "orderMessageEnable=false\n" in bytes(made.ask(319).body).decode()
    assert made.ask(318, body=b"orderMessageEnable=true\n").code == 0
    shown = bytes(made.ask(319).body).decode()
    assert "orderMessageEnable=true\n" in shown
    assert "listenPort=9876\n" in shown
    assert made.disk.read(CHANGES_PATH) == b"orderMessageEnable=true\n"
    assert made.ask(318).code == 0


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        (b"kvConfigPath=/etc/x", 16, "kvConfigPath"),
        (b"configStorePath=/etc/x", 16, "configStorePath"),
        (b"rocketmqHome=/", 16, "rocketmqHome"),
        (b"listenPort=1", 16, "listenPort"),
        (b"orderMessageEnable=true\nnonsense=1", 16, "nonsense"),
        (b"orderMessageEnable=maybe", 1, "true or false"),
        (b"\xff", 1, "UTF-8"),
        (b"a=\\u1", 1, "line 1"),
    ],
)
def test_what_a_request_may_not_change_it_does_not(body: bytes, code: int, said: str) -> None:
    made = NameServerKit()
    before = made.ask(319).body
    answer = made.ask(318, body=body)
    assert answer.code == code
    assert said in answer.remark
    assert made.ask(319).body == before
    assert not made.disk.exists(CHANGES_PATH)


# All of them.

FIELDS_OF: dict[int, dict[str, str]] = {
    100: {"namespace": "n", "key": "k", "value": "v"},
    101: {"namespace": "n", "key": "k"},
    102: {"namespace": "n", "key": "k"},
    103: place(),
    104: place(),
    105: {"topic": "Orders"},
    205: {"brokerName": "broker-a"},
    216: {"topic": "Orders"},
    217: {"topic": "Orders"},
    219: {"namespace": "n"},
    224: {"cluster": "c"},
    322: place(),
    327: {"brokerName": "broker-a"},
    901: {"clusterName": "c", "brokerName": "b"},
    904: {"clusterName": "c", "brokerName": "b", "brokerAddr": "h:1"},
}


@pytest.mark.parametrize(
    ("code", "field"), [(code, field) for code, fields in FIELDS_OF.items() for field in fields]
)
def test_a_missing_field_is_named(code: int, field: str) -> None:
    fields = {name: text for name, text in FIELDS_OF[code].items() if name != field}
    answer = kit().ask(code, fields)
    assert answer.code == 1
    assert answer.remark == f"the field {field} is missing"


@pytest.mark.parametrize("code", [103, 217, 322])
@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff", b"{0:}", b'{"a":1,"a":2}'])
def test_a_body_that_is_no_object_is_refused(code: int, body: bytes) -> None:
    made = kit()
    assert made.ask(code, FIELDS_OF[code], body).code == 1
    assert made.ask(105, {"topic": "Orders"}).code == 0


@pytest.mark.parametrize(
    ("code", "body", "said"),
    [
        (103, b'{"topicConfigTable":{"T":{"perm":"x"}}}', "perm of T of topicConfigTable"),
        (217, b'{"queueDatas":[{"brokerName":7}]}', "brokerName of an item of queueDatas"),
        (322, b'{"counter":[]}', "counter of the data version"),
    ],
)
def test_what_is_wrong_in_a_body_is_named(code: int, body: bytes, said: str) -> None:
    answer = kit().ask(code, FIELDS_OF[code], body)
    assert answer.code == 1
    assert said in answer.remark
