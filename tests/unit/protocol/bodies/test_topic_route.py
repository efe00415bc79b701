import pytest

from aerobee.errors import ProtocolError
from aerobee.model.route import BrokerData, ClusterInfo, QueueData, TopicRoute
from aerobee.protocol.bodies.topic_route import (
    decode_cluster_info,
    decode_elected_group,
    decode_member_group,
    decode_topic_route,
    encode_cluster_info,
    encode_elected_group,
    encode_member_group,
    encode_topic_route,
)

BROKER = BrokerData("DefaultCluster", "broker-a", {1: "127.0.0.1:10921", 0: "127.0.0.1:10911"})
ROUTE = TopicRoute((QueueData("broker-a", 8, 4, 6, 0),), (BROKER,))
STANDARD = (
    b'{"brokerDatas":[{"brokerAddrs":{"0":"127.0.0.1:10911","1":"127.0.0.1:10921"},'
    b'"brokerName":"broker-a","cluster":"DefaultCluster","enableActingMaster":false}],'
    b'"filterServerTable":{},"queueDatas":[{"brokerName":"broker-a","perm":6,"readQueueNums":8,'
    b'"topicSysFlag":0,"writeQueueNums":4}]}'
)
BARE = STANDARD.replace(b'"0":', b"0:").replace(b'"1":', b"1:")


def test_a_route_is_written_in_both_ways() -> None:
    assert encode_topic_route(ROUTE, is_standard=True) == STANDARD
    assert encode_topic_route(ROUTE, is_standard=False) == BARE


def test_both_ways_are_read() -> None:
    assert decode_topic_route(STANDARD) == ROUTE
    assert decode_topic_route(BARE) == ROUTE


def test_what_few_routes_have_is_there_when_they_have_it() -> None:
    mapping = {"bname": "broker-a", "currIdMap": {0: 0, 1: 1}, "totalQueues": 2}
    broker = BrokerData("c", "b", {0: "h:1"}, is_acting_enabled=True, zone="z1")
    route = TopicRoute((), (broker,), "broker-a:4", {"broker-a": mapping})
    text = encode_topic_route(route, is_standard=True)
    assert b'"enableActingMaster":true,"zoneName":"z1"' in text
    assert b'"orderTopicConf":"broker-a:4","queueDatas":[]' in text
    assert b'"topicQueueMappingByBroker":{"broker-a":{"bname":"broker-a","currIdMap":{"0":0' in text
    assert decode_topic_route(encode_topic_route(route, is_standard=False)) == route


@pytest.mark.parametrize(
    "text",
    [
        b"[]",
        b'{"queueDatas":{}}',
        b'{"queueDatas":[1]}',
        b'{"queueDatas":[{}]}',
        b'{"brokerDatas":[{"brokerName":"b","brokerAddrs":{"x":"h:1"}}]}',
    ],
)
def test_what_is_no_route_is_refused(text: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_topic_route(text)


def test_cluster_information_has_bare_ids_always() -> None:
    text = (
        b'{"brokerAddrTable":{"broker-a":{"brokerAddrs":{0:"127.0.0.1:10911",1:"127.0.0.1:10921"},'
        b'"brokerName":"broker-a","cluster":"DefaultCluster","enableActingMaster":false}},'
        b'"clusterAddrTable":{"DefaultCluster":["broker-a"]}}'
    )
    assert encode_cluster_info(ClusterInfo((BROKER,))) == text
    assert decode_cluster_info(text) == ClusterInfo((BROKER,))
    assert decode_cluster_info(b'{"brokerAddrTable":{},"clusterAddrTable":{}}') == ClusterInfo(())


def test_a_group_of_members_is_written_with_bare_ids() -> None:
    assert encode_member_group(BROKER) == (
        b'{"brokerMemberGroup":{"brokerAddrs":{0:"127.0.0.1:10911",1:"127.0.0.1:10921"},'
        b'"brokerName":"broker-a","cluster":"DefaultCluster"}}'
    )


def test_the_brokers_of_one_name_are_read_again() -> None:
    assert decode_member_group(encode_member_group(BROKER)) == BROKER
    assert decode_elected_group(encode_elected_group(BROKER)) == BROKER


def test_in_the_answer_to_an_election_they_are_inside_nothing() -> None:
    assert encode_elected_group(BROKER).startswith(b'{"brokerAddrs":{0:"127.0.0.1:10911",')
