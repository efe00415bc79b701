import pytest

from aerobee.app.explaining.wanting import find_reason_against
from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset
from aerobee.model.subscription import BY_SQL, BY_TAG
from aerobee.protocol.bodies.subscription import make_subscription


def message(**properties: str) -> StoredMessage:
    host = Host("10.0.0.1", 1)
    return StoredMessage(
        "T", QueueId(0), QueueOffset(0), LogOffset(0), b"", properties, 1, host, 1, host
    )


@pytest.mark.parametrize(
    ("kind", "expression", "properties", "reason"),
    [
        (BY_TAG, "*", {"TAGS": "a"}, None),
        (BY_TAG, "a || b", {"TAGS": "b"}, None),
        (BY_TAG, "a || b", {"TAGS": "c"}, "its tag is 'c', wanted is 'a || b'"),
        (BY_TAG, "a", {}, "it has no tag, wanted is 'a'"),
        (BY_SQL, "n > 1", {"n": "2"}, None),
        (BY_SQL, "n > 1", {"n": "1"}, "its properties do not fulfil 'n > 1'"),
        (BY_SQL, "n > 1", {}, "its properties do not fulfil 'n > 1'"),
        (BY_SQL, "n >", {"n": "2"}, "the condition 'n >' is none: "),
    ],
)
def test_a_subscription_wants_a_message_or_says_why_not(
    kind: str, expression: str, properties: dict[str, str], reason: str | None
) -> None:
    said = find_reason_against(make_subscription("T", expression, 1, kind), message(**properties))
    if reason is None:
        assert said is None
    else:
        assert said is not None
        assert said.startswith(reason)
