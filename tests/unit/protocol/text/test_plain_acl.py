import pytest

from aerobee.errors import Misuse
from aerobee.model.access import Rights, Rule, User
from aerobee.protocol.text.plain_acl import convert_plain_acl

# The shape of the file that RocketMQ 4.9.8 ships.
FILE = {
    "globalWhiteRemoteAddresses": ["10.10.103.*"],
    "accounts": [
        {
            "accessKey": "RocketMQ",
            "secretKey": "12345678",
            "whiteRemoteAddress": None,
            "admin": False,
            "defaultTopicPerm": "DENY",
            "defaultGroupPerm": "SUB",
            "topicPerms": ["topicA=DENY", "topicB=PUB|SUB", "topicC=SUB", "topicD=ANY"],
            "groupPerms": ["groupA=DENY", "groupB=PUB|SUB"],
        },
        {"accessKey": "rocketmq2", "secretKey": "12345678", "admin": True,
         "whiteRemoteAddress": "192.168.1.*"},
    ],
}  # fmt: skip


def test_accounts_become_users_and_permissions_rules() -> None:
    found = convert_plain_acl(FILE)
    assert found.users == [
        User("RocketMQ", "12345678"),
        User("rocketmq2", "12345678", "Super"),
    ]
    assert found.rights == [
        Rights(
            "User:RocketMQ",
            (
                Rule("Topic:topicA", ("All",), "Deny"),
                Rule("Topic:topicB", ("Pub", "Sub")),
                Rule("Topic:topicC", ("Sub",)),
                Rule("Topic:topicD", ("All",), "Deny"),
                Rule("Group:groupA", ("All",), "Deny"),
                Rule("Group:groupB", ("Pub", "Sub")),
                Rule("Topic:*", ("All",), "Deny", policy="Default"),
                Rule("Group:*", ("Sub",), policy="Default"),
            ),
        )
    ]


def test_white_addresses_are_named_and_not_believed() -> None:
    first, second = convert_plain_acl(FILE).notes
    assert first.startswith("globalWhiteRemoteAddresses:")
    assert second.startswith("whiteRemoteAddress of rocketmq2:")


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"accounts": {}},
        {"accounts": ["x"]},
        {"accounts": [{"accessKey": "a"}]},
        {"accounts": [{"accessKey": "a", "secretKey": "b", "topicPerms": ["T"]}]},
    ],
)
def test_what_is_no_such_file_is_refused(said: dict[str, object]) -> None:
    with pytest.raises(Misuse):
        convert_plain_acl(said)
