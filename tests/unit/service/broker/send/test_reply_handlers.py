import pytest

from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode, reply_to
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.send.reply_handlers import PUSH_MS_MAX
from tests.broker_kit import CLIENT, OTHER, BrokerKit
from tests.wire import JAVA_FIELDS, LONG_NAMES, frame, java_header

TOPIC = "DefaultCluster_REPLY_TOPIC"
PROPERTIES = "CORRELATION_ID\x01c1\x02REPLY_TO_CLIENT\x01asker\x02UNIQ_KEY\x01u\x02"


def reply_fields(**changes: str) -> dict[str, str]:
    return {**JAVA_FIELDS, "b": TOPIC, "e": "0", "i": PROPERTIES, **changes}


def kit_with_asker(config: BrokerConfig | None = None) -> BrokerKit:
    """A broker that knows the producer who asked, on the connection OTHER."""
    kit = BrokerKit(config=config)
    kit.beat("asker", producer="askers", channel=OTHER)
    return kit


def replied(kit: BrokerKit, code: int = 325, **changes: str) -> RemotingCommand:
    """A consumer replies; what the requester is pushed."""
    fields = reply_fields(**changes)
    if code == 324:
        fields = {LONG_NAMES[letter]: value for letter, value in fields.items()}
    kit.tell(code, fields, b"the reply")
    (push,) = kit.heard(OTHER)
    assert kit.heard(CLIENT) == [], "nobody hears of success before the requester has it"
    return push


def acknowledge(kit: BrokerKit, push: RemotingCommand, code: int = 0, remark: str = "") -> None:
    response = reply_to(push, code, remark=remark)
    kit.send_frames(b"".join(encode(response)), OTHER)


@pytest.mark.parametrize("code", [324, 325])
def test_a_reply_is_pushed_to_who_asked_and_kept(code: int) -> None:
    kit = kit_with_asker()
    push = replied(kit, code, h="3", j="1")
    assert (push.code, push.is_response, push.is_oneway) == (326, False, False)
    assert bytes(push.body) == b"the reply"
    now = kit.clock.now().wall_ms
    properties = push.ext_fields.pop("properties")
    assert f"PUSH_REPLY_TIME\x01{now}\x02" in properties
    assert "CORRELATION_ID\x01c1\x02" in properties
    assert push.ext_fields == {
        "producerGroup": "group",
        "topic": TOPIC,
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": "4",
        "queueId": "0",
        "sysFlag": "0",
        "bornTimestamp": JAVA_FIELDS["g"],
        "flag": "3",
        "reconsumeTimes": "1",
        "unitMode": "false",
        "bornHost": "10.0.0.9:40001",
        "storeHost": "127.0.0.1:10911",
        "storeTimestamp": str(now),
    }
    acknowledge(kit, push)
    (answer,) = kit.heard(CLIENT)
    (kept,) = kit.messages(TOPIC)
    assert (answer.code, kept.body) == (0, b"the reply")
    assert answer.ext_fields == {
        "MSG_REGION": "DefaultRegion",
        "TRACE_ON": "true",
        "msgId": kept.offset_message_id,
        "queueId": "0",
        "queueOffset": "0",
    }


def test_a_reply_that_is_not_kept_has_no_place() -> None:
    kit = kit_with_asker(BrokerConfig(stores_replies=False))
    acknowledge(kit, replied(kit))
    (answer,) = kit.heard(CLIENT)
    assert answer.code == 0
    assert (answer.ext_fields["msgId"], answer.ext_fields["queueOffset"]) == ("0", "0")
    assert kit.store.end_offset == 0


def test_a_reply_to_nobody_is_refused_and_not_kept() -> None:
    kit = kit_with_asker()
    answer = kit.ask(325, reply_fields(i="REPLY_TO_CLIENT\x01stranger\x02"))
    assert (answer.code, kit.store.end_offset) == (1, 0)
    assert "stranger" in answer.remark
    assert kit.ask(325, reply_fields(i="")).code == 1
    kit.close(OTHER)
    assert kit.ask(325, reply_fields()).code == 1


TOO_LARGE = "msg body length limit 1000B, msg properties length limit 32KB."


@pytest.mark.parametrize("stores", [True, False])
@pytest.mark.parametrize(
    ("more", "body"),
    [
        (32_768 - len(PROPERTIES), b"x"),
        (33_000, b"x"),
        (1 << 20, b"x"),
        (32_767 - len(PROPERTIES), b"x"),  # not with what the broker adds
        (3, bytes(1001)),
    ],
)
@pytest.mark.parametrize("code", [324, 325])
def test_a_reply_that_is_too_large_is_refused_and_nobody_gets_it(
    code: int, more: int, body: bytes, stores: bool
) -> None:
    kit = kit_with_asker(BrokerConfig(body_bytes_max=1000, stores_replies=stores))
    fields = reply_fields(i=PROPERTIES + "a\x01" + "x" * (more - 3) + "\x02")
    if code == 324:
        fields = {LONG_NAMES[letter]: value for letter, value in fields.items()}
    kit.send_frames(frame(java_header(code, fields), body))
    (answer,) = kit.heard(CLIENT)
    assert (answer.code, answer.remark[-len(TOO_LARGE) :]) == (13, TOO_LARGE)
    assert answer.ext_fields == {"MSG_REGION": "DefaultRegion", "TRACE_ON": "true"}
    assert (kit.heard(OTHER), kit.store.end_offset) == ([], 0)


def test_a_reply_with_too_many_fields_is_refused_with_the_reason() -> None:
    kit = kit_with_asker()
    many = {f"x{number}": "" for number in range(128)}
    answer = kit.ask(325, many | reply_fields())
    assert (answer.code, "more than 128 fields" in answer.remark) == (13, True)
    assert answer.ext_fields == {"MSG_REGION": "DefaultRegion", "TRACE_ON": "true"}


def test_a_requester_that_says_no_is_told_to_the_replier() -> None:
    kit = kit_with_asker()
    acknowledge(kit, replied(kit), 1, "too late")
    (answer,) = kit.heard(CLIENT)
    assert (answer.code, "too late" in answer.remark) == (1, True)


def test_a_requester_that_does_not_answer_is_not_waited_for_for_ever() -> None:
    kit = kit_with_asker()
    push = replied(kit)
    kit.tick(PUSH_MS_MAX - 1)
    assert kit.heard(CLIENT) == []
    kit.tick(1)
    (answer,) = kit.heard(CLIENT)
    assert answer.code == 1
    acknowledge(kit, push)
    assert kit.heard(CLIENT) == []


def test_a_requester_that_goes_meanwhile_is_told_at_once() -> None:
    kit = kit_with_asker()
    replied(kit)
    kit.close(OTHER)
    assert [answer.code for answer in kit.heard(CLIENT)] == [1]


def test_only_the_requester_can_acknowledge() -> None:
    kit = kit_with_asker()
    push = replied(kit)
    kit.send_frames(b"".join(encode(reply_to(push, 0))), CLIENT)
    assert kit.heard(CLIENT) == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"b": "a.b"}, 29),
        ({"b": "SELF_TEST_TOPIC"}, 16),
        ({"b": "None"}, 17),
        ({"e": "1"}, 29),
        ({"e": "x"}, 1),
    ],
)
def test_a_reply_is_checked_as_a_send_is(changes: dict[str, str], code: int) -> None:
    kit = kit_with_asker()
    answer = kit.ask(325, reply_fields(**changes))
    assert (answer.code, kit.store.end_offset) == (code, 0)
    assert kit.heard(OTHER) == []


def test_a_one_way_reply_is_pushed_and_not_answered() -> None:
    kit = kit_with_asker()
    kit.tell(325, reply_fields(), b"quiet", flag=2)
    (push,) = kit.heard(OTHER)
    acknowledge(kit, push)
    assert kit.heard(CLIENT) == []
