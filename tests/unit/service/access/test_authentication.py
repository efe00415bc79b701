import pytest

from aerobee.model.access import Credentials
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.remoting.signature import SIGNATURE, sign, sign_fields, signed_text
from aerobee.service.access.authentication import SignatureCheck, user_name

ALICE = Credentials("alice", "secret")


def signed(*late: str, version: int = 513, token: str = "") -> RemotingCommand:
    """A request whose sender adds the late fields after it has signed."""
    fields = {"topic": "T", "queueId": "0"}
    sign_fields(fields, b"body", Credentials("alice", "secret", token))
    fields |= dict.fromkeys(late, "true")
    return RemotingCommand(310, version=version, ext_fields=fields, body=b"body")


def test_a_signature_is_of_one_secret() -> None:
    check = SignatureCheck(signed(), b"body")
    assert check.is_of("secret")
    assert not check.is_of("Secret")
    assert not check.is_of("")
    assert not check.is_of(None)


@pytest.mark.parametrize("changed", ["topic", "queueId", "AccessKey", SIGNATURE])
def test_every_field_is_signed(changed: str) -> None:
    command = signed()
    command.ext_fields[changed] += "x"
    assert not SignatureCheck(command, b"body").is_of("secret")
    command = signed()
    del command.ext_fields[changed]
    assert not SignatureCheck(command, b"body").is_of("secret")


def test_the_body_is_signed() -> None:
    assert not SignatureCheck(signed(), b"bodY").is_of("secret")
    assert not SignatureCheck(signed(), b"").is_of("secret")


def test_a_field_more_is_no_longer_what_was_signed() -> None:
    assert not SignatureCheck(signed("extra"), b"body").is_of("secret")


def test_old_clients_add_one_field_after_signing() -> None:
    assert SignatureCheck(signed("_UNIQUE_KEY_QUERY", version=399), b"body").is_of("secret")
    assert not SignatureCheck(signed("_UNIQUE_KEY_QUERY", version=400), b"body").is_of("secret")


def test_zones_may_be_signed_or_not() -> None:
    late = signed("__ZONE_NAME", "__ZONE_MODE")
    assert SignatureCheck(late, b"body").is_of("secret")
    sign_fields(late.ext_fields, b"body", ALICE)
    assert SignatureCheck(late, b"body").is_of("secret")


def test_the_token_may_be_signed_as_by_java_or_not_as_by_go() -> None:
    java = signed(token="t")
    assert SignatureCheck(java, b"body").is_of("secret")
    text = signed_text(java.ext_fields, b"body", left_out={"SecurityToken"})
    java.ext_fields[SIGNATURE] = sign(text, "secret")
    assert SignatureCheck(java, b"body").is_of("secret")


def test_nobody_is_not_the_user_whose_secret_is_used_for_unknown_ones() -> None:
    command = signed()
    text = signed_text(command.ext_fields, b"body")
    command.ext_fields[SIGNATURE] = sign(text, "nobody has this key")
    assert not SignatureCheck(command, b"body").is_of(None)


def test_odd_texts_are_wrong_signatures() -> None:
    command = signed()
    for text in ("", "ü", "\ud800", "x" * 10_000):
        command.ext_fields[SIGNATURE] = text
        assert not SignatureCheck(command, b"body").is_of("secret")


def test_a_request_names_its_user() -> None:
    assert user_name(signed().ext_fields) == "alice"
    assert user_name({}) == ""
