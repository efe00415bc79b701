from aerobee.model.access import Credentials
from aerobee.protocol.remoting.signature import (
    UNIQUE_KEY_QUERY,
    sign,
    sign_fields,
    signed_text,
)


def test_values_are_joined_in_the_order_of_their_names_and_the_body_follows() -> None:
    fields = {"topic": "T", "AccessKey": "ak", "a": "1", "B": "2"}
    assert signed_text(fields, b"\x00body") == b"ak21T\x00body"


def test_the_signature_itself_is_not_signed() -> None:
    assert signed_text({"Signature": "xyz", "topic": "T"}, b"") == b"T"


def test_what_old_clients_add_after_signing_can_be_left_out() -> None:
    fields = {"topic": "T", UNIQUE_KEY_QUERY: "true"}
    assert signed_text(fields, b"") == b"trueT"
    assert signed_text(fields, b"", left_out={UNIQUE_KEY_QUERY}) == b"T"


def test_names_are_ordered_by_utf16_unit_as_in_java() -> None:
    # U+10000 is above U+FFFD, but its first UTF-16 unit, U+D800, is below.
    assert signed_text({"\ufffd": "later", "\U00010000": "first,"}, b"") == b"first,later"


def test_a_signature_holds_for_one_text_and_one_key_only() -> None:
    signature = sign(b"text", "secret")
    assert signature == sign(b"text", "secret")
    assert signature not in (sign(b"texT", "secret"), sign(b"text", "Secret"))


def test_empty_fields_are_not_sent_with_a_signature() -> None:
    fields = {"topic": "T", "attributes": "", "Signature": "old"}
    sign_fields(fields, b"body", Credentials("ak", "secret"))
    assert fields == {"topic": "T", "AccessKey": "ak", "Signature": sign(b"akTbody", "secret")}
