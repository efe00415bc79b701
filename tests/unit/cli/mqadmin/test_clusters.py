from pathlib import Path

from tests.mqadmin_kit import Fails, Place, Works
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
)
FAILS = (
    Fails("clusterList -c Nowhere", "no cluster 'Nowhere'", status=3),
    Fails("haStatus", "--brokerAddr or --clusterName is needed"),
    Fails("haStatus -b 127.0.0.1:1", "127.0.0.1:1"),
)


def test_brokers_and_their_replicas_are_listed(place: Place) -> None:
    for case in WORKS:
        place.see(case)
    for failure in FAILS:
        place.see_refused(failure)


def test_name_servers_that_know_nobody_are_no_cluster(tmp_path: Path) -> None:
    with UserKeeper().running() as nobody:
        place = Place(nobody.address, nobody.address, tmp_path)
        assert place.run("clusterList").status == 1
