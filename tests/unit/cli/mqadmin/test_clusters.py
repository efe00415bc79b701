from pathlib import Path

from aerobee.cli.mqadmin.java_text import time_with_ms
from aerobee.model.replica_status import ReplicaLag
from aerobee.protocol.bodies.epoch_cache import EpochCache, EpochEntry
from aerobee.protocol.bodies.sync_state import ReplicaIdentity, ReplicasInfo
from aerobee.protocol.headers.controller import ControllerMetadataHeader
from tests.mqadmin_kit import Fails, Place, Works
from tests.replica_script import Replica, ReplicaScript, lone_master, master, slave
from tests.user_keeper import UserKeeper

WORKS = (
    Works(
        "clusterList",
        (
            r"^#Cluster Name +#Broker Name +#BID +#Addr +#Version +#InTPS\(LOAD\) +#OutTPS\(LOAD\) "
            r"+#Timer\(Progress\) +#PCWait\(ms\) +#Hour +#SPACE +#ACTIVATED$",
            r"^DefaultCluster +broker-a +0 +127\S+ +V5_5_0 +\d+\.\d\d\(0,0ms\) +"
            r"\d+\.\d\d\(0,0ms\|0,0ms\) +\d+-\d+\(\d\.\dw, \d\.\d, \d\.\d\) +0 +\d+\.\d\d "
            r"+0\.\d{4} +true$",
        ),
    ),
    Works("clusterList -m", (r"^DefaultCluster +broker-a( +\d+){4}$",)),
    Works("clusterList -c DefaultCluster", ("broker-a",)),
    Works(
        "haStatus -b {address}",
        (
            r"^#MasterAddr\t127\S+$",
            r"^#MasterCommitLogMaxOffset\t\d+$",
            r"^#SlaveNum\t0$",
            "^#SlaveAddr +#SlaveAckOffset +#Diff +#TransferSpeed",
        ),
    ),
    Works("haStatus -c DefaultCluster", (r"^#InSyncSlaveNum\t0$",)),
    Works(
        "resetMasterFlushOffset -b {address} -o 7", (r"^reset master flush offset to 7 success$",)
    ),
)
FAILS = (
    Fails("clusterList -c Nowhere", "no cluster 'Nowhere'", status=3),
    Fails("haStatus", "--brokerAddr or --clusterName is needed"),
    Fails("haStatus -b 127.0.0.1:1", "127.0.0.1:1"),
    Fails("resetMasterFlushOffset -b {address}", "--offset", status=2),
    Fails("getBrokerEpoch -b {broker}", "only for controllerMode"),
    Fails("getBrokerEpoch -b nobody", "no broker or cluster 'nobody'", status=3),
    Fails("getBrokerEpoch", "--brokerName or --clusterName is needed"),
    Fails("getControllerMetaData", "--controllerAddress", status=2),
    Fails("getControllerMetaData -a {address}", "CONTROLLER_GET_METADATA_INFO"),
    Fails("getSyncStateSet -a {address} -b broker-a", "CONTROLLER_GET_METADATA_INFO"),
    Fails("getSyncStateSet -a {address}", "--brokerName or --clusterName is needed"),
    Fails(
        "electMaster -a {address} -b 2 -bn broker-a -c DefaultCluster",
        "CONTROLLER_GET_METADATA_INFO",
    ),
)


def test_brokers_and_their_replicas_are_listed(place: Place) -> None:
    for case in WORKS:
        place.see(case)
    for failure in FAILS:
        place.see_refused(failure)


def test_replicas_are_shown_in_rocketmqs_columns(tmp_path: Path) -> None:
    lags = (
        ReplicaLag("10.0.0.2:41234", 510, 0, 0, True, "", 2048.0, 510),
        ReplicaLag("10.0.0.3:41234", 200, 310, 9, False, "far", 0.0, 240),
    )
    one, two = master(*lags), slave(1)
    one.epochs = two.epochs = EpochCache("c", "broker-a", 1, [EpochEntry(2, 0, 510)], 510)
    with ReplicaScript(one, two).running() as script:
        place = Place(script.name_server, one.address, tmp_path)
        assert place.run("haStatus -b {address}").out == (
            f"\n#MasterAddr\t{one.address}\n#MasterCommitLogMaxOffset\t510\n#SlaveNum\t2\n"
            "#InSyncSlaveNum\t1\n"
            "#SlaveAddr                        #SlaveAckOffset             #Diff "
            "#TransferSpeed(KB/s)          #Status #TransferFromWhere\n"
            "10.0.0.2:41234                    510                             0 "
            "            2.00               OK              510\n"
            "10.0.0.3:41234                    200                           310 "
            "            0.00      Fall Behind              240\n"
        )
        shown = place.run(f"haStatus -b {two.address}").out
        read, written = (time_with_ms(wall_ms) for wall_ms in (1_000, 2_000))
        assert shown == (
            "\n#MasterAddr\t127.0.0.1:10912\n#CommitLogMaxOffset\t510\n"
            f"#TransferSpeed(KB/s)\t2.00\n#LastReadTime\t{read}\n#LastWriteTime\t{written}\n"
            "#MasterFlushOffset\t510\n"
        )
        epochs = place.run("getBrokerEpoch -b {broker}").out
        assert epochs == "".join(
            f"\n#clusterName\tc\n#brokerName\tbroker-a\n#brokerAddr\t{broker.address}\n"
            "#brokerId\t1\n#Epoch: EpochEntry{epoch=2, startOffset=0, endOffset=510}\n"
            for broker in (one, two)
        )
        assert place.run("getBrokerEpoch -c DefaultCluster").out == epochs
        assert place.run(f"resetMasterFlushOffset -b {two.address} -o 7").status == 0
        assert two.resets == [7]


def test_name_servers_that_know_nobody_are_no_cluster(tmp_path: Path) -> None:
    with UserKeeper().running() as nobody:
        place = Place(nobody.address, nobody.address, tmp_path)
        assert place.run("clusterList").status == 1


def leader_of(address: str) -> ControllerMetadataHeader:
    return ControllerMetadataHeader("g", "n0", address, False, f"n0:{address};n1:h2:1;")


def group() -> tuple[Replica, Replica]:
    """A leader, and a follower that is asked."""
    first, second = lone_master(), slave(2)
    first.elects = True
    here = ReplicaIdentity("broker-a", 1, "h1:1", True)
    there = ReplicaIdentity("broker-a", 2, "h2:1", False)
    first.sync_state = {"broker-a": ReplicasInfo(1, "h1:1", 3, 4, [here], [there])}
    return first, second


def test_the_one_that_leads_is_asked_whichever_is_named(tmp_path: Path) -> None:
    first, second = group()
    with ReplicaScript(first, second).running() as script:
        second.controller = leader_of(first.address)
        place = Place(script.name_server, second.address, tmp_path)
        assert place.run("getControllerMetaData -a {address}").out == (
            f"\n#ControllerGroup\tg\n#ControllerLeaderId\tn0\n#ControllerLeaderAddress\t"
            f"{first.address}\n#Peer:\tn0:{first.address}\n#Peer:\tn1:h2:1\n"
        )
        shown = place.run("getSyncStateSet -a {address} -b broker-a").out
        assert shown == (
            "\n#brokerName\tbroker-a\n#MasterBrokerId\t1\n#MasterAddr\th1:1\n#MasterEpoch\t3\n"
            "#SyncStateSetEpoch\t4\n#SyncStateSetNums\t1\n"
            "\nInSyncReplica:\tReplicaIdentity{brokerName='broker-a', brokerId=1, "
            "brokerAddress='h1:1', alive=true}\n"
            "\nNotInSyncReplica:\tReplicaIdentity{brokerName='broker-a', brokerId=2, "
            "brokerAddress='h2:1', alive=false}\n"
        )
        assert place.run("getSyncStateSet -a {address} -c DefaultCluster").out == shown
        assert place.run("electMaster -a {address} -b 2 -bn broker-a -c DefaultCluster").out == (
            "\n#ClusterName\tDefaultCluster\n#BrokerName\tbroker-a\n"
            "#BrokerMasterAddr\t127.0.0.1:30921\n#MasterEpoch\t7\n#SyncStateSetEpoch\t7\n"
            f"\t#Broker\t1\t{first.address}\n"
        )


def test_a_group_without_a_leader_is_to_be_asked_again(tmp_path: Path) -> None:
    _, second = group()
    with ReplicaScript(second).running() as script:
        second.controller = leader_of("")
        place = Place(script.name_server, second.address, tmp_path)
        place.see_refused(Fails("getSyncStateSet -a {address} -b broker-a", "no leader", status=3))
