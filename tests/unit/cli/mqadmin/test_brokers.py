import pytest

from tests.mqadmin_kit import Fails, Place, Works

WORKS = (
    Works(
        "brokerStatus -b {address}", (r"^brokerVersionDesc +: V5_5_0$", r"^bootTimestamp +: \d+$")
    ),
    Works("brokerStatus -c DefaultCluster", (r"^127\S+ +brokerVersionDesc +: V5_5_0$",)),
    Works(
        "getBrokerConfig -b {address}",
        (r"^============127\S+============$", "^brokerName +=  broker-a$"),
    ),
    Works("getBrokerConfig -c DefaultCluster", (r"^============Master: 127\S+============$",)),
    Works(
        "updateBrokerConfig -b {address} -k fileReservedTime -v 73",
        (r"^update broker config success, 127",),
    ),
    Works("getBrokerConfig -b {address}", ("^fileReservedTime +=  73$",)),
    Works("updateBrokerConfig -c DefaultCluster -a true -k fileReservedTime -v 72", ("success",)),
    Works("cleanExpiredCQ -b {address}", ("^success$",)),
    Works("cleanExpiredCQ -c DefaultCluster", ("^success$",)),
    Works("cleanUnusedTopic", ("^success$",)),
    Works("deleteExpiredCommitLog -b {address}", ("^success$",)),
    Works(
        "getColdDataFlowCtrInfo -b {address}",
        (r"^ ============127\S+============$", '^\t"configTable":'),
    ),
    Works(
        "getBrokerLiteInfo -b {address}",
        ("^#Broker +#Store Type +#Max LMQ ", r"^127\S+ +default +0 +0 "),
    ),
    Works("getBrokerLiteInfo -c DefaultCluster", (r"^127\S+ +default ",)),
    Works(
        "brokerConsumeStats -b {address}",
        ("^#Topic +#Group +#Broker Name +#QID ", r"^Diff Total: \d+$"),
    ),
)
FAILS = (
    Fails("brokerStatus", "--brokerAddr or --clusterName is needed"),
    Fails("brokerStatus -c Nowhere", "no cluster 'Nowhere'", status=3),
    Fails("brokerStatus -b 127.0.0.1:1", "127.0.0.1:1"),
    Fails("getBrokerConfig -b 127.0.0.1:1", "127.0.0.1:1"),
    Fails("updateBrokerConfig -b {address} -k storePathRootDir -v /tmp", "storePathRootDir"),
    Fails("cleanExpiredCQ -c Nowhere", "no cluster 'Nowhere'", status=3),
    Fails("cleanUnusedTopic -b 127.0.0.1:1", "127.0.0.1:1"),
    Fails("deleteExpiredCommitLog -b 127.0.0.1:1", "127.0.0.1:1"),
    Fails("getColdDataFlowCtrInfo -b 127.0.0.1:1", "127.0.0.1:1"),
    Fails("getBrokerLiteInfo", "--brokerAddr or --cluster is needed"),
    Fails("brokerConsumeStats", r"-b \(--brokerAddr\) must be given", status=2),
    Fails("updateColdDataFlowCtrGroupConfig -b {address} -g g -v 1", "no limits per group"),
    Fails("removeColdDataFlowCtrGroupConfig -b {address} -g g", "no limits per group"),
    Fails("setCommitLogReadAheadMode -b {address} -m 0", "there is no mode to set"),
    Fails("setCommitLogReadAheadMode -b {address} -m 2", "0 or 1, not '2'"),
    Fails("switchTimerEngine -b {address} -e F", "one engine, the wheel"),
    Fails("switchTimerEngine -b {address} -e X", "R or F, not 'X'"),
)


def test_brokers_are_asked_told_and_cleaned(place: Place) -> None:
    for case in WORKS:
        place.see(case)


@pytest.mark.parametrize("failure", FAILS, ids=lambda failure: str(failure.command))
def test_what_a_broker_does_not_do_is_said(place: Place, failure: Fails) -> None:
    place.see_refused(failure)


def test_only_queues_that_are_behind_are_shown_if_that_is_asked_for(place: Place) -> None:
    place.see(Works("updateTopic -c DefaultCluster -t MqBehind -r 2 -w 2", ("success",)))
    place.see(Works("updateSubGroup -c DefaultCluster -g MqLate", ("success",)))
    for queue in (0, 0, 1):
        sending = f"sendMessage -t MqBehind -p x -b broker-a -i {queue}"
        place.see_in_time(Works(sending, ("SEND_OK",)))
    place.see(Works("skipAccumulatedMessage -g MqLate -t MqBehind", ("broker-a",)))
    moved = "resetOffsetByTime -g MqLate -t MqBehind -s -1 -b {address} -q 0 -o 1"
    place.see(Works(moved, ("reset consumer offset to 1",)))
    both = place.see(
        Works("brokerConsumeStats -b {address}", ("^MqBehind +MqLate +broker-a +1 +1 +1 +0 ",))
    )
    behind = "^MqBehind +MqLate +broker-a +0 +2 +1 +1 "
    late = place.see(Works("brokerConsumeStats -b {address} -l 1", (behind,)))
    assert both.out.count("MqLate") == 2
    assert late.out.count("MqLate") == 1
