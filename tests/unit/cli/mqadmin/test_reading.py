import asyncio

import pytest

import aerobee as mq
from tests.mqadmin_kit import Fails, Place, Works

MESSAGE = r"MSGID: [0-9A-F]{32} MessageExt \[brokerName=broker-a, queueId=0, .* BODY: "


@pytest.fixture(scope="module")
def filled(place: Place) -> Place:
    place.see(Works("updateTopic -c DefaultCluster -t MqRead -r 2 -w 2", ("success",)))
    for number, tag in enumerate("ABA"):
        place.see_in_time(
            Works(
                f"sendMessage -t MqRead -p body{number} -c Tag{tag} -b broker-a -i 0", ("SEND_OK",)
            )
        )
    traced = place.see(Works("sendMessage -t MqRead -p x -b broker-a -i 0 -m true", ("SEND_OK",)))
    place.words["traced"] = traced.out.split()[-1]
    return place


@pytest.mark.parametrize(
    "case",
    [
        Works(
            "printMsg -t MqRead",
            (
                r"^minOffset=0, maxOffset=4, MessageQueue \[topic=MqRead, .*queueId=0\]$",
                f"^{MESSAGE}body0$",
                f"^{MESSAGE}body2$",
                "^minOffset=0, maxOffset=0, MessageQueue .*queueId=1",
                "^-{56}$",
            ),
        ),
        Works("printMsg -t MqRead -d false", (f"^{MESSAGE}NOT PRINT BODY$",)),
        Works(
            "printMsg -t MqRead -s TagC",
            (r"queueId=0\] no matched msg\. status=NO_MATCHED_MSG, offset=4$",),
        ),
        Works("printMsg -t MqRead -b 1 -e 2026-11-15#12:00:00:000", ("^minOffset=0, maxOffset=",)),
        Works(
            "printMsgByQueue -t MqRead -a broker-a -i 0 -p true -d true -f true",
            (f"^{MESSAGE}body1$", "^Tag: TagA +Count: 2$", "^Tag: TagB +Count: 1$"),
        ),
        Works(
            "printMsgByQueue -t MqRead -a broker-a -i 0 -f true -s TagA", ("^Tag: TagA +Count: 2$",)
        ),
        Works(
            "consumeMessage -t MqRead -b broker-a -i 0 -o 1 -c 1 -g MqReaders",
            ("^The oldler 1 message will be provided$", "^Consume ok$", f"^{MESSAGE}body1$"),
        ),
        Works(
            "consumeMessage -t MqRead",
            (f"^{MESSAGE}body2$", r"queueId=0\] print msg finished\. status=NO_NEW_MSG, offset=4$"),
        ),
        Works("consumeMessage -t MqRead -c 2", ("^The older 2 message of the 0 queue will be",)),
        Works("consumeMessage -t MqRead -b broker-a -i 0 -o 9", (r"no matched msg, offset=9$",)),
        Works(
            "queryMsgTraceById -i {traced}",
            (
                "^#Type +#ProducerGroup +#ClientHost +#SendTime +#CostTimes +#Status",
                r"^Pub +\S+ +127\.0\.0\.1 +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +\d+ms +success",
            ),
        ),
    ],
    ids=lambda case: str(case.command),
)
def test_queues_are_read_from_end_to_end(filled: Place, case: Works) -> None:
    filled.see_in_time(case)


def test_messages_that_were_not_asked_for_are_not_shown(filled: Place) -> None:
    assert "body1" not in filled.run("printMsg -t MqRead -s TagA").out
    assert "MSGID" not in filled.run("printMsgByQueue -t MqRead -a broker-a -i 0").out
    assert "body2" not in filled.run("consumeMessage -t MqRead -b broker-a -i 0 -o 0 -c 2").out
    assert "MSGID" not in filled.run("printMsg -t MqRead -e 1").out


@pytest.mark.parametrize(
    "failure",
    [
        Fails("printMsg -t MqNowhere", "MqNowhere", status=3),
        Fails("printMsg -t MqRead -b soon", "'soon' is no time"),
        Fails("printMsg -t MqRead -c nonsense", "no encoding 'nonsense'"),
        Fails("printMsgByQueue -t MqRead -a broker-z -i 0", "broker-z", status=3),
        Fails("consumeMessage -t MqRead -c 0", "must be positive"),
        Fails("consumeMessage -t MqRead -i 0", "--queueId needs its broker"),
        Fails("consumeMessage -t MqRead -o 0", "--offset needs its queue"),
        Fails("queryMsgTraceById -i 00", "nothing was traced of 00", status=3),
    ],
    ids=lambda failure: str(failure.command),
)
def test_what_cannot_be_read_is_said(filled: Place, failure: Fails) -> None:
    filled.see_in_time(Works("queryMsgTraceById -i {traced}", ("Pub",)))
    filled.see_refused(failure)


def test_a_message_of_a_traced_batch_leads_to_the_record_of_its_batch(filled: Place) -> None:
    async def send() -> str:
        async with mq.connect(filled.name_server, trace=True) as client:
            return (await client.send_batch("MqRead", [b"x", b"y"]))[1].message_id

    filled.see_in_time(Works(f"queryMsgTraceById -i {asyncio.run(send())}", ("^Pub .* success",)))
