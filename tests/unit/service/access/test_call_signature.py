import hashlib
import hmac

import pytest

from aerobee.service.access.call_signature import CallSignature

DATE = "20261118T070000Z"
SIGNED = hmac.digest(b"secret", DATE.encode(), hashlib.sha1).hex()


def metadata(
    credential: str = "alice", signature: str = SIGNED, date: str = DATE
) -> dict[str, str]:
    text = f"Credential={credential}, SignedHeaders=x-mq-date-time, Signature={signature}"
    return {"authorization": f"MQv2-HMAC-SHA1 {text}", "x-mq-date-time": date}


@pytest.mark.parametrize("signature", [SIGNED, SIGNED.upper()])
@pytest.mark.parametrize("credential", ["alice", "alice//Rocketmq"])
def test_a_right_signature_is_of_its_user(signature: str, credential: str) -> None:
    check = CallSignature(metadata(credential, signature))
    assert check.name == "alice"
    assert check.is_of("secret")
    assert not check.is_of("another")
    assert not check.is_of(None)


@pytest.mark.parametrize(
    "said",
    [
        {},
        metadata(signature="no hex"),
        metadata(signature=""),
        metadata(date="another"),
        {"authorization": metadata()["authorization"]},
        {"authorization": "Basic YQ==", "x-mq-date-time": DATE},
    ],
)
def test_anything_else_is_of_nobody(said: dict[str, str]) -> None:
    assert not CallSignature(said).is_of("secret")


def test_the_signature_of_an_empty_text_counts_for_nothing() -> None:
    empty = hmac.digest(b"secret", b"", hashlib.sha1).hex()
    assert not CallSignature(metadata(signature=empty, date="")).is_of("secret")
