import pytest

from tests.mqadmin_kit import Fails, Place, Works


@pytest.fixture(scope="module")
def filled(place: Place) -> Place:
    place.see(Works("updateTopic -c DefaultCluster -t MqOffsets -r 2 -w 2", ("success",)))
    for number in range(3):
        place.see_in_time(
            Works(f"sendMessage -t MqOffsets -p {number} -c TagA -b broker-a -i 0", ("SEND_OK",))
        )
    for group in ("MqMoved", "MqClone"):
        place.see(Works(f"updateSubGroup -c DefaultCluster -g {group}", ("success",)))
    return place


def at(place: Place, group: str, queue: int) -> str:
    """Where a group is in a queue, by what is shown."""
    said = place.run(f"consumerProgress -g {group} -t MqOffsets").out
    (row,) = [line for line in said.splitlines() if line.startswith("MqOffsets ")][
        queue : queue + 1
    ]
    return row.split()[4]


def test_a_group_is_sent_to_where_it_is_to_be(filled: Place) -> None:
    heading = r"^#brokerName +#queueId +#offset *$"
    filled.see(
        Works(
            "skipAccumulatedMessage -g MqMoved -t MqOffsets",
            (heading, "^broker-a +0 +3 *$", "^broker-a +1 +0 *$"),
        )
    )
    assert at(filled, "MqMoved", 0) == "3"
    filled.see(
        Works(
            "resetOffsetByTime -g MqMoved -t MqOffsets -s 0",
            (
                r"^start reset consumer offset by specified, group\[MqMoved\], topic\[MqOffsets\], "
                r"force\[true\], timestamp\(string\)\[0\], timestamp\(long\)\[0\]$",
                heading,
                "^broker-a +0 +0 *$",
            ),
        )
    )
    assert at(filled, "MqMoved", 0) == "0"
    filled.see(
        Works(
            "resetOffsetByTime -g MqMoved -t MqOffsets -s -1 -b {address} -q 0 -o 2",
            (r"queueId\[0\], broker\[127\S+\], ", "^reset consumer offset to 2$"),
        )
    )
    assert at(filled, "MqMoved", 0) == "2"
    filled.see(Works("resetOffsetByTime -g MqMoved -t MqOffsets -s now", ("^broker-a +0 +3 *$",)))
    by_time = "resetOffsetByTime -g MqMoved -t MqOffsets -s 1 -b {address} -q 0"
    filled.see(Works(by_time, ("^reset consumer offset to 0$",)))
    assert at(filled, "MqMoved", 0) == "0"


def test_a_group_begins_where_another_is(filled: Place) -> None:
    filled.see(Works("resetOffsetByTime -g MqMoved -t MqOffsets -s -1", ("^broker-a +0 +3",)))
    filled.see(
        Works(
            "cloneGroupOffset -s MqMoved -d MqClone -t MqOffsets",
            (r"^clone group offset success\. srcGroup\[MqMoved\], destGroup=\[MqClone\], ",),
        )
    )
    assert at(filled, "MqClone", 0) == "3"


def test_the_units_of_a_queue_are_shown(filled: Place) -> None:
    for broker in ("-b {address}", ""):
        said = filled.see(
            Works(
                f"queryCq -t MqOffsets -q 0 -i 1 -c 2 {broker}",
                (
                    "^max: 3, min: 0$",
                    "^idx: 1$",
                    "^idx: 2$",
                    r"^ConsumeQueueData\{physicOffset=\d+, physicSize=\d+, tagsCode=2598919, ",
                    "^={38}$",
                ),
            )
        )
        assert "idx: 0" not in said.out
    filled.see(Works("queryCq -t MqOffsets -q 0 -i 0 -g MqMoved", ("^Filter data: \nnull$",)))


@pytest.mark.parametrize(
    "failure",
    [
        Fails("resetOffsetByTime -g MqMoved -t MqOffsets -s soon", "'soon' is no time"),
        Fails("resetOffsetByTime -g MqMoved -t MqNowhere -s 0", "MqNowhere", status=3),
        Fails(
            "resetOffsetByTime -g MqMoved -t MqOffsets -s 0 -c Nowhere",
            "no cluster 'Nowhere'",
            status=3,
        ),
        Fails("skipAccumulatedMessage -g MqMoved -t MqNowhere", "MqNowhere", status=3),
        Fails("cloneGroupOffset -s MqMoved -d MqClone", "must be given", status=2),
        Fails("queryCq -t MqNowhere -q 0 -i 0", "MqNowhere", status=3),
        Fails("queryCq -t MqOffsets -q zero -i 0", "--queue takes a whole number"),
    ],
    ids=lambda failure: str(failure.command),
)
def test_what_cannot_be_done_is_said(filled: Place, failure: Fails) -> None:
    filled.see_refused(failure)
