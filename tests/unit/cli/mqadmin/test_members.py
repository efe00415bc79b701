import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest

import aerobee
from aerobee.client.sync.sync_consumer import SyncConsumer
from tests.cli_kit import Said
from tests.mqadmin_kit import Fails, Place, Works

TOPIC = "MqMembers"
GROUP = "MqReaders"


class Online(NamedTuple):
    place: Place
    consumer: SyncConsumer

    def see_in_time(self, case: Works) -> Said:
        return self.place.see_in_time(case)


@pytest.fixture(scope="module")
def online(place: Place) -> Iterator[Online]:
    """With a consumer that has consumed, and a producer that answers."""
    place.see(Works(f"updateTopic -c DefaultCluster -t {TOPIC} -r 2 -w 2", ("success",)))
    place.see(Works(f"updateSubGroup -c DefaultCluster -g {GROUP}", ("success",)))
    place.see_in_time(Works(f"sendMessage -t {TOPIC} -p 1 -k KeyM -b broker-a -i 0", ("SEND_OK",)))
    with aerobee.connect_sync(place.name_server) as client:
        client.answer_checks("MqMakers", lambda message: True, topics=[TOPIC])
        place.words["client"] = client.id
        with client.consumer(TOPIC, group=GROUP, start="earliest", commit_every=0.1) as consumer:
            for message in consumer:
                message.ack()
                break
            yield Online(place, consumer)


def test_who_is_connected_is_shown(online: Online) -> None:
    for case in (
        Works(
            f"consumerConnection -g {GROUP}",
            (
                "^#ClientId +#ClientAddr +#Language +#Version$",
                r"^\S+@\S+ +127\.0\.0\.1:\d+ +\S+ +V5_5_0$",
                "^Below is subscription:$",
                rf"^{TOPIC} +\*$",
                "^ConsumeType: CONSUME_PASSIVELY$",
                "^MessageModel: CLUSTERING$",
                "^ConsumeFromWhere: CONSUME_FROM_",
            ),
        ),
        Works(f"consumerConnection -g {GROUP} -b {{address}}", ("^#ClientId",)),
        Works(f"producerConnection -g MqMakers -t {TOPIC}", (r"^0001  \S+ +127\S+ +\S+ +V5_5_0$",)),
        Works(
            "producer -b {address}",
            (
                r"^producer group \(MqMakers\) instance : clientId=\S+,remoteIP=/127\.0\.0\.1:\d+, "
                r"language=\S+, version=513, lastUpdateTimestamp=\d+$",
            ),
        ),
    ):
        online.see_in_time(case)


def test_how_far_groups_are_is_shown(online: Online) -> None:
    heading = "^#Topic +#Broker Name +#QID +#Broker Offset +#Consumer Offset +"
    rows = rf"^{TOPIC} +broker-a +[01] +\d+ +\d+ +"
    for case in (
        Works(
            f"consumerProgress -g {GROUP}",
            (
                heading + "#Diff +#Inflight +#LastTime$",
                rows + r"-?\d+ +-?\d+ +(N/A|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)$",
                r"^Consume TPS: \d+\.\d\d$",
                r"^Consume Diff Total: \d+$",
                r"^Consume Inflight Total: -?\d+$",
            ),
        ),
        Works(
            f"consumerProgress -g {GROUP} -t {TOPIC} -s true",
            (heading + "#Client IP +#Diff", rows + r"\d+\.\d+\.\d+\.\d+ +"),
        ),
        Works(
            "consumerProgress",
            ("^#Group +#Count +#Version", rf"^{GROUP} +1 +V5_5_0 +PUSH +CLUSTERING +\d+ +\d+$"),
        ),
        Works("consumerProgress", (r"^MqOfflineReaders +0 +OFFLINE +0 +0$",)),
    ):
        online.place.see(
            Works("updateTopic -c DefaultCluster -t %RETRY%MqOfflineReaders", ("success",))
        )
        online.see_in_time(case)


def test_what_a_consumer_says_of_itself_is_shown_and_written(online: Online) -> None:
    online.see_in_time(
        Works(
            f"consumerStatus -g {GROUP} -i {{client}} -s",
            (
                "^#Consumer Properties#$",
                "^#Consumer MQ Detail#$",
                rf"^{TOPIC} +broker-a +0 +Process",
            ),
        )
    )
    words = ("consumerStatus", "-g", GROUP, "-n", online.place.name_server)
    run = subprocess.run(  # it writes into the folder that it is in
        [sys.executable, "-m", "aerobee.cli.mqadmin.entry", *words],
        cwd=online.place.folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
    )
    assert run.returncode == 0, run.stderr
    assert "Same subscription in the same group of consumer\n\nRebalance OK\n" in run.stdout
    (written,) = online.place.folder.glob(f"*/{online.place.words['client']}")
    assert "#Consumer Properties#" in written.read_text()


def test_a_message_is_consumed_by_the_member_that_is_named(online: Online) -> None:
    found = online.see_in_time(Works(f"queryMsgByKey -t {TOPIC} -k KeyM", (r"^[0-9A-F]{32}",)))
    online.place.words["message"] = found.out.splitlines()[1].split()[0]
    for name in ("queryMsgById", "queryMsgByUniqueKey"):
        command = f"{name} -t {TOPIC} -i {{message}} -g {GROUP} -d {{client}}"
        seen = (
            r"^ConsumeMessageDirectlyResult \[order=false, autoCommit=true, consumeResult=CR_SUCC"
        )
        with ThreadPoolExecutor() as pool:
            asked = pool.submit(online.place.see, Works(command, (seen,)))
            for message in online.consumer:
                message.ack()
                break
            asked.result()
    tracked = Works(
        f"queryMsgById -t {TOPIC} -i {{message}}", (rf"\[consumerGroup={GROUP}, track",)
    )
    online.see_in_time(tracked)


@pytest.mark.parametrize(
    "failure",
    [
        Fails(
            "consumerConnection -g MqNobody", r"the consumer group\[MqNobody\] not online", status=3
        ),
        Fails(
            f"producerConnection -g MqNobody -t {TOPIC}",
            r"producer group\[MqNobody\] not exist",
            status=3,
        ),
        Fails("producerConnection -g MqMakers -t MqNowhere", "MqNowhere", status=3),
        Fails("producer -b 127.0.0.1:1", "127.0.0.1:1"),
        Fails(
            "consumerProgress -g MqNobody", "the group 'MqNobody' has consumed nothing", status=3
        ),
        Fails("consumerStatus -g MqNobody", r"the consumer group\[MqNobody\] not online", status=3),
        Fails(f"consumerStatus -g {GROUP} -i nobody", "no consumer 'nobody'"),
    ],
    ids=lambda failure: str(failure.command),
)
def test_nobody_is_said_to_be_nobody(online: Online, failure: Fails) -> None:
    online.place.see_refused(failure)
