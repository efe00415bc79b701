import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.model.access import User
from aerobee.model.topic import MADE_BY, TopicConfig
from aerobee.service.broker.state.attributes import (
    GROUP_ATTRIBUTES,
    changed_attributes,
    edited_topic,
    parse_changes,
    with_maker,
)


def test_changes_are_read_by_their_signed_names() -> None:
    assert parse_changes("") == {}
    assert parse_changes("+message.type=FIFO,-reserve.time") == {
        "+message.type": "FIFO",
        "-reserve.time": "",
    }


@pytest.mark.parametrize(
    "text",
    ["a=b", "a", "+a", "-a=b", ",", "+a=1,", "+a=1,+a=2", "-a,-a", "+a=1" + "x" * 5000],
)
def test_changes_that_are_not_so_written_are_refused(text: str) -> None:
    with pytest.raises(RemoteProtocolError):
        parse_changes(text)


def test_a_new_topic_gets_what_is_set() -> None:
    changes = {"+message.type": "FIFO", "+queue.type": "BatchCQ", "+reserve.time": "-1"}
    assert changed_attributes(None, changes) == {
        "message.type": "FIFO",
        "queue.type": "BatchCQ",
        "reserve.time": "-1",
    }


def test_attributes_are_set_changed_and_taken_away_and_the_others_stay() -> None:
    before = {"queue.type": "BatchCQ", "message.type": "FIFO"}
    after = changed_attributes(before, {"-message.type": "", "+reserve.time": "5"})
    assert after == {"queue.type": "BatchCQ", "reserve.time": "5"}
    assert before == {"queue.type": "BatchCQ", "message.type": "FIFO"}
    assert changed_attributes(before, {"+message.type": "DELAY"})["message.type"] == "DELAY"


def test_what_is_for_the_life_of_a_topic_can_be_set_only_to_what_it_is() -> None:
    before = {"queue.type": "BatchCQ"}
    assert changed_attributes(before, {"+queue.type": "BatchCQ"}) == before
    for changes in (
        {"+queue.type": "SimpleCQ"},
        {"-queue.type": ""},
        {"+cleanup.policy": "DELETE"},
    ):
        with pytest.raises(RemoteProtocolError, match="unchangeable"):
            changed_attributes(before, changes)


def test_a_group_has_a_priority_factor_and_a_topic_has_not() -> None:
    for percent in ("0", "100"):
        changes = {"+priority.factor": percent}
        assert changed_attributes({}, changes, GROUP_ATTRIBUTES) == {"priority.factor": percent}
    for wrong in ("-1", "101"):
        with pytest.raises(RemoteProtocolError, match="from 0 to 100"):
            changed_attributes({}, {"+priority.factor": wrong}, GROUP_ATTRIBUTES)
    with pytest.raises(RemoteProtocolError, match="unsupported key"):
        changed_attributes({}, {"+priority.factor": "1"})


@pytest.mark.parametrize(
    ("current", "changes", "said"),
    [
        (None, {"-message.type": ""}, "while creating topic"),
        ({}, {"-message.type": ""}, "nonexistent key"),
        ({}, {"message.type": "FIFO"}, "wrong format"),
        ({}, {"+": "x"}, "wrong format"),
        ({}, {"": "x"}, "wrong format"),
        ({}, {"+colour": "red"}, "unsupported key: colour"),
        ({"colour": "red"}, {"-colour": ""}, "unsupported key: colour"),
        ({}, {"+message.type": "LOUD"}, "one of DELAY, FIFO"),
        ({}, {"+reserve.time": "-2"}, "from -1 to"),
        ({}, {"+reserve.time": "soon"}, "reserve.time"),
        ({"message.type": "FIFO"}, {"+message.type": "FIFO", "-message.type": ""}, "duplication"),
    ],
)
def test_a_change_that_cannot_be_is_refused_and_says_why(
    current: dict[str, str] | None, changes: dict[str, str], said: str
) -> None:
    with pytest.raises(RemoteProtocolError, match=said):
        changed_attributes(current, changes)


def test_a_super_user_and_nobody_are_not_noted_as_makers() -> None:
    topic = TopicConfig("t")
    assert with_maker(topic, None) == topic
    assert with_maker(topic, User("root", "x", "Super")) == topic
    assert with_maker(topic, User("alice", "x")).attributes == {MADE_BY: "alice"}


def test_a_maker_stays_whoever_edits_the_topic_and_is_named_by_no_change() -> None:
    alice, bob = User("alice", "x"), User("bob", "x")
    made = edited_topic(TopicConfig("t", attributes={f"+{MADE_BY}": "bob"}), None, alice)
    assert made.attributes == {MADE_BY: "alice"}
    for change in ({f"+{MADE_BY}": "bob"}, {f"-{MADE_BY}": ""}, {}):
        assert edited_topic(TopicConfig("t", attributes=change), made, bob).attributes == {
            MADE_BY: "alice"
        }
