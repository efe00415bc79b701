import json

from tests.mqadmin_kit import Fails, Place, Works

POLICY = '{"type":"CUSTOMIZED","customizedRetryPolicy":{"next":[1000,5000]}}'
WORKS = (
    Works(
        "updateSubGroup -c DefaultCluster -g MqGroup -r 3",
        (
            r"^create subscription group to 127\.0\.0\.1:\d+ success\.$",
            r"^SubscriptionGroupConfig\{groupName=MqGroup, consumeEnable=true, "
            r"consumeFromMinEnable=false, consumeBroadcastEnable=false, .*retryMaxTimes=3, "
            r"groupRetryPolicy=GroupRetryPolicy\{type=CUSTOMIZED, exponentialRetryPolicy=null, "
            r"customizedRetryPolicy=null\}, .*subscriptionDataSet=null, attributes=\{\}\}$",
        ),
    ),
    Works(
        "updateSubGroup -b {address} -g MqOther -q 2 -r 9 -d true -m true -o true -w 2 -a false",
        ("consumeBroadcastEnable=true", "whichBrokerWhenConsumeSlowly=2"),
    ),
    Works(
        "getConsumerConfig -g MqOther",
        (
            "^={29}DefaultCluster:broker-a={29}$",
            "^groupName +=  MqOther$",
            "^consumeFromMinEnable +=  true$",
            "^consumeMessageOrderly +=  true$",
            "^retryQueueNums +=  2$",
            "^retryMaxTimes +=  9$",
            "^notifyConsumerIdsChangedEnable +=  false$",
            "^subscriptionDataSet +=  $",
        ),
    ),
    Works(f"updateSubGroup -b {{address}} -g MqPolicy -p '{POLICY}'", ("success",)),
    Works(
        "getConsumerConfig -g MqPolicy", (r"customizedRetryPolicy=CustomizedRetryPolicy\{next=",)
    ),
    Works("updateSubGroupList -b {address} -f {folder}/groups.json", ("batch of group config",)),
    Works("getConsumerConfig -g MqListedGroup", ("^retryMaxTimes +=  16$",)),
    Works(
        "setConsumeMode -b {address} -t MqGroupTopic -g MqOther -m POP -q 2",
        (
            r"^set consume mode to .* success\.$",
            r"^topic\[MqGroupTopic\] group\[MqOther\] consume mode\[POP\] popShareQueueNum\[2\]$",
        ),
    ),
    Works(
        "setConsumeMode -c DefaultCluster -t MqGroupTopic -g MqOther -m PULL", (r"mode\[PULL\]",)
    ),
    Works(
        "deleteSubGroup -b {address} -g MqListedGroup -r true",
        (r"^delete subscription group \[MqListedGroup\] from broker \[127\S+\] success\.$",),
    ),
    Works(
        "deleteSubGroup -c DefaultCluster -g MqOther",
        (r"from broker \[127\S+\] in cluster \[DefaultCluster\] success\.$",),
    ),
)
FAILS = (
    Fails("getConsumerConfig -g MqOther", "no broker has the group 'MqOther'", status=3),
    Fails("updateSubGroup -b {address} -g Mq/Bad", "Mq/Bad"),
    Fails("updateSubGroup -b {address} -g MqGroup -r many", "--retryMaxTimes takes a whole number"),
    Fails("updateSubGroup -b {address} -g MqGroup -p nonsense", "is no retry policy"),
    Fails("updateSubGroup -b {address} -g MqGroup --attributes a=b", "changes no attribute"),
    Fails("updateSubGroupList -b {address} -f {folder}/bad.json", "bad.json holds no list"),
    Fails(
        "setConsumeMode -b {address} -t MqGroupTopic -g MqOther -m PUSH", "PULL or POP, not 'PUSH'"
    ),
    Fails("deleteSubGroup -g MqGroup", "--brokerAddr or --clusterName is needed"),
)


def test_groups_are_made_shown_and_deleted(place: Place) -> None:
    (place.folder / "groups.json").write_text(json.dumps([{"groupName": "MqListedGroup"}]))
    (place.folder / "bad.json").write_text("{}")
    place.see_in_time(
        Works("updateTopic -c DefaultCluster -t MqGroupTopic -r 1 -w 1", ("success",))
    )
    for case in WORKS:
        place.see(case)
    for failure in FAILS:
        place.see_refused(failure)


def test_dead_letters_outlive_a_group_that_is_taken_from_one_broker(place: Place) -> None:
    """RocketMQ's tool leaves those topics, too, unless it deletes in a whole cluster."""
    letters = "%DLQ%MqKept"
    place.see(Works("updateSubGroup -b {address} -g MqKept", ("success",)))
    place.see(Works(f"updateTopic -b {{address}} -t {letters} -r 1 -w 1", ("success",)))
    place.see_in_time(Works(f"topicRoute -t {letters}", ("broker-a",)))
    place.see(Works("deleteSubGroup -b {address} -g MqKept -r true", ("success",)))
    place.see(Works(f"topicStatus -t {letters}", ("^broker-a +0 ",)))
    place.see(Works("deleteSubGroup -c DefaultCluster -g MqKept -r true", ("success",)))
    place.see_refused(Fails(f"topicRoute -t {letters}", "MqKept", status=3))
