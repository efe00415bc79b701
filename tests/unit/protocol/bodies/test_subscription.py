import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.model.subscription import Subscription
from aerobee.protocol.bodies.subscription import (
    SubscriptionCheck,
    decode_subscription_check,
    encode_subscription_check,
    make_subscription,
    subscription_from,
    subscription_json,
)
from aerobee.protocol.message.tag_filter import EXPRESSION_CHARS_MAX
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse, write_compact

# As the Java client 5.5.0 writes it.
TEXT = (
    b'{"classFilterMode":false,"codeSet":[2598919,2598921],"expressionType":"TAG",'
    b'"subString":"TagA || TagC","subVersion":1794732478563,"tagsSet":["TagA","TagC"],'
    b'"topic":"Tag550"}'
)
TAGGED = Subscription(
    "Tag550", "TagA || TagC", frozenset((2598919, 2598921)), 1794732478563, "TAG", ("TagA", "TagC")
)


def read(text: bytes) -> Subscription:
    return subscription_from(Members(parse(text), "it"))


def test_a_subscription_is_written_and_read_as_java_does() -> None:
    assert read(TEXT) == TAGGED
    assert write_compact(subscription_json(TAGGED)) == TEXT


def test_the_hashes_are_those_of_the_expression_whatever_the_client_says() -> None:
    go = b'{"codeSet":["2598919"],"subString":"TagA","subVersion":5,"tagsSet":["TagA"],"topic":"T"}'
    cpp = b'{"codeSet":[0],"subString":"TagA","subVersion":"5","tagsSet":["TagA"],"topic":"T"}\n'
    wanted = Subscription("T", "TagA", frozenset((2598919,)), 5, "TAG", ("TagA",))
    assert read(go) == read(cpp) == wanted


def test_a_subscription_without_an_expression_is_by_its_tags_or_for_everything() -> None:
    assert read(b'{"tagsSet":["TagA"],"topic":"T"}').tag_codes == frozenset((2598919,))
    assert read(b'{"topic":"T"}') == Subscription("T")
    assert read(b'{"topic":"T","subString":"*","expressionType":""}') == Subscription("T")


def test_an_expression_of_another_kind_has_no_tags() -> None:
    subscription = make_subscription("T", "a > 2 || b", 3, "SQL92")
    assert subscription == Subscription("T", "a > 2 || b", None, 3, "SQL92", ())


@pytest.mark.parametrize(
    "text",
    [
        b"{}",
        b'{"topic":""}',
        b'{"topic":"' + 256 * b"t" + b'"}',
        b'{"topic":"T","subString":7}',
        b'{"topic":"T","subVersion":"soon"}',
        b'{"topic":"T","subString":"' + (EXPRESSION_CHARS_MAX + 1) * b"a" + b'"}',
    ],
)
def test_what_is_no_subscription_is_refused(text: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        read(text)


def test_a_check_is_of_the_subscription_inside() -> None:
    body = b'{"clientId":"c","group":"g","subscriptionData":' + TEXT + b"}"
    assert decode_subscription_check(body) == ("g", TAGGED)


def test_what_a_client_asks_before_it_starts_is_written_as_it_is_read() -> None:
    check = SubscriptionCheck("g", TAGGED)
    body = encode_subscription_check(check, "10.0.0.1@7")
    assert body.startswith(b'{"clientId":"10.0.0.1@7","group":"g","namespace":"",')
    assert decode_subscription_check(body) == check
