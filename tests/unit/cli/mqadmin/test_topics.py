import json
import re
from pathlib import Path

import pytest

from tests.mqadmin_kit import Fails, Place, Works

ROW = r"^broker-a +"
WORKS = (
    Works(
        "updateTopic -c DefaultCluster -t MqTopic -r 4 -w 4 -p 6",
        (
            r"^create topic to 127\.0\.0\.1:\d+ success\.$",
            r"^TopicConfig \[topicName=MqTopic, readQueueNums=4, writeQueueNums=4, perm=RW-, "
            r"topicFilterType=SINGLE_TAG, topicSysFlag=0, order=false, attributes=\{\}\]$",
        ),
    ),
    Works(
        "updateTopic -b {address} -t MqTyped -r 2 -w 2 -u true -a +message.type=NORMAL",
        (r"topicSysFlag=1, .*attributes=\{\+message\.type=NORMAL\}\]$",),
    ),
    Works(
        "updateTopic -b {address} -t MqOrdered -r 2 -w 2 -o true",
        (r"^set broker orderConf\. isOrder=true, orderConf=\[broker-a:2\]$", "order=true"),
    ),
    Works("updateOrderConf -m get -t MqOrdered", (r"orderConf=\[broker-a:2\] $",)),
    Works(
        "updateTopic -c DefaultCluster -t MqOrdered -r 2 -w 2 -o true",
        (r"^set cluster orderConf\. isOrder=true, orderConf=\[broker-a:2\]$",),
    ),
    Works(
        "updateTopicList -b {address} -f {folder}/topics.json", ("^submit batch of topic config",)
    ),
    Works("topicList", ("^MqListed$", "^MqTopic$", "^MqTyped$", "^TBW102$")),
    Works("topicList -c", ("^#Cluster Name +#Topic +#Consumer Group", "^DefaultCluster +MqTopic ")),
    Works("topicRoute -t MqTopic", (r'^\t\t\t\t0:"127\.0\.0\.1:\d+"$', '"readQueueNums":4')),
    Works(
        "topicRoute -t MqTopic -l", (r"^DefaultCluster +broker-a +\{0=127\.0\.0\.1:\d+\} +4 +4 +6",)
    ),
    Works("topicRoute -t MqTopic --list", ("^Total: +1 +4 +4 *$",)),
    Works("topicClusterList -t MqTopic", ("^DefaultCluster$",)),
    Works(
        "updateTopicPerm -b {address} -t MqTyped -p 4",
        (r"from 6 to 4 in .* success\.$", "perm=R--"),
    ),
    Works("updateTopicPerm -b {address} -t MqTyped -p 4", ("^new perm equals to the old one!$",)),
    Works("updateTopicPerm -c DefaultCluster -t MqTyped -p 6", (r"from 4 to 6 in .* success\.$",)),
    Works(
        "updateOrderConf -m put -t MqTopic -v broker-a:4", (r"^update orderConf success\. topic=",)
    ),
    Works("updateOrderConf -m get -t MqTopic", (r"topic=\[MqTopic\], orderConf=\[broker-a:4\] $",)),
    Works(
        "updateOrderConf -m delete -t MqTopic", (r"^delete orderConf success\. topic=\[MqTopic\]$",)
    ),
    Works("sendMessage -t MqTopic -p body -b broker-a -i 1", ("SEND_OK",)),
    Works(
        "topicStatus -t MqTopic",
        (
            "^#Broker Name +#QID +#Min Offset +#Max Offset +#Last Updated$",
            ROW + r"1 +0 +1 +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}$",
            ROW + "3 +0 +0 *$",
            r"^Topic Put TPS: \d",
        ),
    ),
    Works("topicStatus -t MqTopic -c DefaultCluster", (ROW + "1 +0 +1 ",)),
    Works(
        "statsAll -t MqTopic",
        ("^#Topic +#Consumer Group +#Accumulation", "^MqTopic .* NO_CONSUMER$"),
    ),
    Works("statsAll -a", ("^MqTopic ",)),
    Works(
        "deleteTopic -c DefaultCluster -t MqTyped",
        (
            r"^delete topic \[MqTyped\] from cluster \[DefaultCluster\] success\.$",
            r"^delete topic \[MqTyped\] from NameServer success\.$",
        ),
    ),
)
FAILS = (
    Fails("topicRoute -t MqTyped", "MqTyped", status=3),
    Fails("topicStatus -t MqNowhere", "MqNowhere", status=3),
    Fails("topicClusterList -t MqNowhere", "MqNowhere", status=3),
    Fails("allocateMQ -t MqNowhere -i a", "MqNowhere", status=3),
    Fails("deleteTopic -c Nowhere -t MqTopic", "no cluster 'Nowhere'", status=3),
    Fails("updateTopic -b {address} -t Mq/Bad", "Mq/Bad"),
    Fails("updateTopic -b {address} -t MqTopic -a message.type", "changes no attribute"),
    Fails("updateTopicList -b {address} -f {folder}/nothing.json", "nothing.json cannot be read"),
    Fails("updateTopicPerm -b {address} -t MqNowhere -p 6", "MqNowhere", status=3),
    Fails("updateOrderConf -m get -t MqTopic", "no order configuration", status=3),
    Fails("updateOrderConf -m put -t MqTopic", "please set orderConf"),
    Fails("updateOrderConf -m put -t MqTopic -v four", "'four' is no order configuration"),
    Fails("updateOrderConf -m eat -t MqTopic", "get, put or delete, not 'eat'"),
    Fails("topicList -x", "no flag '-x'", status=2),
)

BEFORE = r"^The old mapping data is written to file (\S+/MqStatic-\d+\.before)$"
AFTER = r"^The new mapping data is written to file (\S+/MqStatic-\d+\.after)$"
STATIC_FAILS = (
    Fails("updateStaticTopic -b broker-a -t MqStatic -qn 4", "Cannot decrease"),
    Fails("updateStaticTopic -b broker-a -t MqStatic -qn 6", "do nothing"),
    Fails("updateStaticTopic -b broker-a -t MqStatic", "the number of queues, from 1 on"),
    Fails("updateStaticTopic -c Nowhere -t MqStatic -qn 9", "Find none brokers", status=3),
    Fails("updateStaticTopic -b broker-z -t MqStatic -qn 9", "'broker-z'", status=3),
    Fails("updateStaticTopic -t MqStatic -mf {folder}/nothing", "nothing cannot be read"),
    Fails("updateStaticTopic -t MqStatic -mf {folder}/bad", "bad: "),
    Fails("remappingStaticTopic -b broker-a -t MqNoStatic", "No topic route to do the remapping"),
)


def test_topics_are_made_shown_changed_and_deleted(place: Place) -> None:
    rows = [{"topicName": "MqListed", "readQueueNums": 1, "writeQueueNums": 1, "perm": 6}]
    (place.folder / "topics.json").write_text(json.dumps(rows))
    for case in WORKS:
        place.see_in_time(case)
    for failure in FAILS:
        place.see_refused(failure)


def test_queues_are_shared_out_as_members_would(place: Place) -> None:
    place.see_in_time(Works("updateTopic -c DefaultCluster -t MqShared -r 3 -w 3", ("success",)))
    said = place.see_in_time(Works("allocateMQ -t MqShared -i a,b", ("result",)))
    shared = json.loads(said.out)["result"]
    assert {who: [one["queueId"] for one in queues] for who, queues in shared.items()} == {
        "a": [0, 1],
        "b": [2],
    }


@pytest.mark.parametrize("only", ["", " -a"])
def test_only_active_topics_are_shown_if_that_is_asked_for(place: Place, only: str) -> None:
    place.see_in_time(Works("updateTopic -c DefaultCluster -t MqIdle -r 1 -w 1", ("success",)))
    place.see_in_time(Works("topicRoute -t MqIdle", ("broker-a",)))
    assert ("MqIdle" in place.run(f"statsAll{only}").out) is not bool(only)


def test_a_static_topic_is_made_grown_and_moved_with_its_mapping_data_in_files(
    place: Place,
) -> None:
    written = []
    for command in (
        "updateStaticTopic -b broker-a -t MqStatic -qn 5",
        "updateStaticTopic -c DefaultCluster -t MqStatic -qn 6",
        "remappingStaticTopic -c DefaultCluster -t MqStatic",
    ):
        said = place.see(Works(command, (BEFORE, AFTER)))
        found = [re.search(pattern, said.out, re.MULTILINE) for pattern in (BEFORE, AFTER)]
        written += [one.group(1) for one in found if one is not None]
    try:
        # A plan that was interrupted is applied again; an older one is not.
        place.see(Works(f"remappingStaticTopic -t MqStatic -mf {written[-1]}", ()))
        place.see_refused(
            Fails(f"updateStaticTopic -t MqStatic -mf {written[1]}", "was changed since")
        )
        place.see_refused(Fails(f"updateStaticTopic -t MqOther -mf {written[1]}", "of the topic"))
    finally:
        for path in written:
            Path(path).unlink(missing_ok=True)
    place.see_in_time(Works("topicStatus -t MqStatic", (r"^__syslo__global__ +5 +0 +0 ",)))
    (place.folder / "bad").write_text("{}")
    for failure in STATIC_FAILS:
        place.see_refused(failure)
