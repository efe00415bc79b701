from aerobee.model.route import BrokerData, ClusterInfo


def test_a_cluster_is_the_set_of_brokers_that_name_it() -> None:
    info = ClusterInfo(
        (
            BrokerData("c1", "a", {0: "h:1"}),
            BrokerData("c2", "b", {0: "h:2"}),
            BrokerData("c1", "d", {1: "h:3"}),
        )
    )
    assert info.names_by_cluster() == {"c1": ["a", "d"], "c2": ["b"]}
