from aerobee.cli.mqadmin.running_text import running_text
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.bodies.running_info import QueueInHand, RunningInfo, TopicRates
from aerobee.protocol.bodies.subscription import make_subscription
from tests.mqadmin_kit import has

INFO = RunningInfo(
    {"PROP_CLIENT_VERSION": "V5_5_0", "a": "b"},
    {
        MessageQueue("T", "broker-a", QueueId(number)): QueueInHand(
            7, 7, 9, 3, 5 << 20, is_locked=False, pull_wall_ms=1_700_000_000_123
        )
        for number in (1, 0)
    },
    (make_subscription("T", "A || B", 1),),
    "task one\n",
    {"T": TopicRates(1.5, 2.0, 3.25, 4.0, 0.0, 6)},
)


def test_a_consumers_state_has_rocketmqs_sections_in_their_order() -> None:
    text = running_text(INFO)
    headings = [line for line in text.splitlines() if line.startswith("#") and line.endswith("#")]
    assert headings == [
        "#Consumer Properties#",
        "#Consumer Subscription#",
        "#Consumer Offset#",
        "#Consumer MQ Detail#",
        "#Consumer Pop Detail#",
        "#Consumer RT&TPS#",
        "#User Consume Info#",
        "#Consumer jstack#",
    ]


def test_each_row_says_what_the_consumer_said() -> None:
    text = running_text(INFO)
    for pattern in (
        r"^PROP_CLIENT_VERSION +: V5_5_0$",
        r"^001 Topic: T +ClassFilter: false +SubExpression: A \|\| B$",
        r"^T +broker-a +0 +7 *$",
        r"^T +broker-a +1 +ProcessQueueInfo \[commitOffset=7, cachedMsgMinOffset=7, "
        r"cachedMsgMaxOffset=9, cachedMsgCount=3, cachedMsgSizeInMiB=5, locked=false, "
        r"droped=false, lastPullTimestamp=\d{14}123\]$",
        r"^T +1\.50 +2\.00 +3\.25 +4\.00 +0\.00 +6$",
        "^task one$",
    ):
        assert has(pattern, text), pattern


def test_without_stacks_there_is_no_section_for_them() -> None:
    assert "jstack" not in running_text(RunningInfo({}, {}, ()))
