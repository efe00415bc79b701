import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.model.access import Credentials, Rule
from aerobee.protocol.bodies.access import UserChange
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.sealing import BadSeal
from aerobee.service.access.table_text import decode_table, encode_table, transfer_key

KEY = b"k" * 32
TABLE = (
    AccessTable()
    .with_user(UserChange("alice", "hidden1"), None)
    .with_user(UserChange("root", "hidden2", "Super", False), None)
    .with_rules("alice", [Rule("Topic:T", ("Pub",), "Deny", ("10.0.0.1",)), Rule("*", ("All",))])
    .with_rules("alice", [Rule("Topic:*", ("Sub",), policy="Default")])
)


def test_a_table_comes_back_as_it_was() -> None:
    assert decode_table(encode_table(TABLE, KEY), KEY) == TABLE


def test_no_secret_is_in_the_text() -> None:
    assert b"hidden" not in encode_table(TABLE, KEY)


def test_another_key_opens_nothing() -> None:
    with pytest.raises(BadSeal):
        decode_table(encode_table(TABLE, KEY), b"j" * 32)


def test_a_rule_that_cannot_be_read_is_never_left_out_in_silence() -> None:
    text = encode_table(TABLE, KEY).replace(b"Topic:T", b"Topik:T")
    with pytest.raises(RemoteProtocolError, match="a rule of User:alice cannot be read"):
        decode_table(text, KEY)


def test_what_travels_is_sealed_by_the_secret_of_the_brokers() -> None:
    one, other = Credentials("inner", "a"), Credentials("inner", "b")
    assert transfer_key(one) != transfer_key(other)
    assert transfer_key(one) == transfer_key(Credentials("else", "a"))
