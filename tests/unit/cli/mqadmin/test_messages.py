import pytest

from tests.mqadmin_kit import Fails, Place, Works

NAMES = (
    "Topic: +MqFound$",
    r"Tags: +\[TagA\]$",
    r"Keys: +\[KeyA\]$",
    "Queue ID: +0$",
    "Queue Offset: +0$",
    r"CommitLog Offset: +\d+$",
    "Reconsume Times: +0$",
    r"Born Timestamp: +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}$",
    r"Store Timestamp: +\d{4}-",
    r"Born Host: +127\.0\.0\.1:\d+$",
    "Store Host: +{address}$",
    "System Flag: +0$",
    r"Properties: +\{.*UNIQ_KEY={id}.*\}$",
    "Message Body Path: +.*/{id}$",
    "WARN: No Consumer",
)


@pytest.fixture(scope="module")
def filled(place: Place) -> Place:
    place.see(Works("updateTopic -c DefaultCluster -t MqFound -r 2 -w 2", ("success",)))
    sent = place.see_in_time(
        Works(
            "sendMessage -t MqFound -p 'first body' -k KeyA -c TagA -b broker-a -i 0", ("SEND_OK",)
        )
    )
    place.words["id"] = sent.out.split()[-1]
    found = place.see_in_time(Works("queryMsgById -t MqFound -i {id}", ("^OffsetID:",)))
    place.words["offset_id"] = found.out.split()[1]
    return place


def shown(place: Place, *patterns: str) -> tuple[str, ...]:
    filled = []
    for pattern in patterns:
        for name in ("id", "address", "offset_id"):
            pattern = pattern.replace(f"{{{name}}}", place.words[name])
        filled.append(pattern)
    return tuple(filled)


def test_a_message_is_found_by_every_name_that_it_has(filled: Place) -> None:
    whole = shown(filled, *NAMES)
    offset_id = shown(filled, "^OffsetID: +{offset_id}$")
    for case in (
        Works("queryMsgById -t MqFound -i {id}", (*offset_id, *whole)),
        Works("queryMsgById -t MqFound -i {offset_id}", (*offset_id, *whole)),
        Works("queryMsgById -t MqFound -i {id},{offset_id}", (*offset_id, *whole)),
        Works("queryMsgById -t MqFound -i {id} -f UTF-8", ("^Message Body: +first body$",)),
        Works("queryMsgByUniqueKey -t MqFound -i {id}", whole),
        Works("queryMsgByUniqueKey -t MqFound -i {id} -c DefaultCluster", whole),
        Works("queryMsgByOffset -t MqFound -b broker-a -i 0 -o 0", (*offset_id, *whole[:12])),
        Works(
            "queryMsgByOffset -t MqFound -b broker-a -i 0 -o 0", ("MAX_OFFSET=1", "MIN_OFFSET=0")
        ),
        Works(
            "queryMsgByKey -t MqFound -k KeyA",
            (
                "^#Message ID +#QID +#Offset #IndexKey",
                *shown(filled, r"^{id} +0 +0 \d+@MqFound@K@KeyA@{id}@\d+ *$"),
            ),
        ),
        Works("queryMsgByKey -t MqFound -k KeyA -b 0 -e 1", ("^#Message ID +#QID +#Offset",)),
    ):
        filled.see(case)
    assert filled.words["id"] not in filled.run("queryMsgByKey -t MqFound -k KeyA -b 0 -e 1").out


def test_a_message_is_sent_once_more_under_its_id(filled: Place) -> None:
    filled.see(
        Works(
            "queryMsgById -t MqFound -i {id} -s true",
            shown(
                filled,
                r"^prepare resend msg\. originalMsgId={id}SendResult \[sendStatus=SEND_OK, "
                r"msgId={id}, offsetMsgId=[0-9A-F]{32}, messageQueue=MessageQueue "
                r"\[topic=MqFound, brokerName=broker-a, queueId=\d\], queueOffset=\d+, ",
            ),
        )
    )
    twice = Works("queryMsgByUniqueKey -t MqFound -i {id} -a", shown(filled, "/{id}_1$"))
    filled.see_in_time(twice)
    assert "_1" not in filled.run("queryMsgByUniqueKey -t MqFound -i {id}").out


@pytest.mark.parametrize(
    "failure",
    [
        Fails("queryMsgById -t MqFound -i 00000000", "no message. msgId=00000000", status=3),
        Fails("queryMsgById -t MqNowhere -i 00", "MqNowhere", status=3),
        Fails("queryMsgById -t MqFound -i {id} -f nonsense", "no encoding 'nonsense'"),
        Fails("queryMsgById -t MqFound -i {id} -g MqNobody -d nobody", "not online"),
        Fails("queryMsgByUniqueKey -t MqFound -i 00", "no message. msgId=00", status=3),
        Fails("queryMsgByUniqueKey -t MqFound -i {id} -s 1 -e 2", "no message", status=3),
        Fails("queryMsgByUniqueKey -t MqFound -i {id} -g MqNobody -d nobody", "not online"),
        Fails("queryMsgByOffset -t MqFound -b broker-a -i 1 -o 70", "no message at 70", status=3),
        Fails("queryMsgByKey -t MqNowhere -k KeyA", "MqNowhere", status=3),
        Fails("queryMsgByKey -t MqFound -k KeyA -p T", "only keys are indexed"),
    ],
    ids=lambda failure: str(failure.command),
)
def test_what_is_not_there_is_said_not_to_be(filled: Place, failure: Fails) -> None:
    filled.see_refused(failure)
