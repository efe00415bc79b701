import signal
import subprocess
import sys

from tests.mqadmin_kit import Fails, Place, Works, has

WORKS = (
    Works("updateTopic -c DefaultCluster -t MqSent -r 2 -w 2", ("success",)),
    Works(
        "sendMessage -t MqSent -p 'a body' -k 'KeyA KeyB' -c TagA -b broker-a -i 1",
        (
            "^#Broker Name +#QID +#Send Result +#MsgId$",
            r"^broker-a +1 +SEND_OK +[0-9A-F]{32}$",
        ),
    ),
    Works("sendMessage -t MqSent -p 'another body'", (r"^broker-a +[01] +SEND_OK",)),
    Works("queryMsgByKey -t MqSent -k KeyB", (r"^[0-9A-F]{32} +1 +0 ",)),
    Works(
        "checkMsgSendRT -t MqSent -a 3 -s 64",
        (r"^broker-a +0 +true +\d+$", r"^broker-a +1 +true +\d+$", r"^Avg RT: \d+\.\d\d$"),
    ),
    Works(
        "sendMsgStatus -b broker-a -c 2 -s 64",
        (r"^rt=\d+ms, SendResult=SendResult \[sendStatus=SEND_OK, .*topic=broker-a, ",),
    ),
)
FAILS = (
    Fails("sendMessage -t MqSent -p body -i 1", "--qid needs its broker"),
    Fails("sendMessage -t MqSent -p body -b broker-z -i 1", "broker-z"),
    Fails("sendMessage -t Mq/Bad -p body", "Mq/Bad"),
    Fails("checkMsgSendRT -t MqNowhere", "MqNowhere", status=3),
    Fails("sendMsgStatus -b broker/bad", "broker/bad"),
    Fails("clusterRT -c Nowhere", r"cluster \[Nowhere\] not exist", status=3),
)


def test_messages_are_sent_and_their_times_are_said(place: Place) -> None:
    for case in WORKS:
        place.see_in_time(case)
    for failure in FAILS:
        place.see_refused(failure)


def test_a_topic_that_may_not_be_written_to_is_no_place_to_send(place: Place) -> None:
    place.see(Works("updateTopic -c DefaultCluster -t MqReadOnly -r 1 -w 1 -p 4", ("success",)))
    place.see_in_time(Works("topicRoute -t MqReadOnly", ('"perm":4',)))
    place.see_refused(
        Fails("checkMsgSendRT -t MqReadOnly -a 1", "nothing can be sent to MqReadOnly")
    )


def test_a_cluster_is_watched_until_somebody_ends_it(place: Place) -> None:
    for flags, pattern in (
        ((), r"^DefaultCluster +broker-a +\d+\.\d\d +2 +0"),
        (("-p", "true", "-m", "hall"), r"^\d{4}-\S+ \S+\|hall\|DefaultCluster\|broker-a\|\d+$"),
    ):
        words = ["-n", place.name_server, "-a", "2", "-s", "64", "-i", "0", *flags]
        with subprocess.Popen(
            [sys.executable, "-u", "-m", "aerobee.cli.mqadmin.entry", "clusterRT", *words],
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(3)]
            process.send_signal(signal.SIGINT)
            process.stdout.read()
        assert all(has(pattern, line) for line in lines[1:]), lines
        assert process.returncode == 0
