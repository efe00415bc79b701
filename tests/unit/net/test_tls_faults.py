import ssl

import pytest

from aerobee.net.tls_faults import explained_tls


def failed(reason: str) -> ssl.SSLError:
    error = ssl.SSLError(1, "[SSL] text")
    error.reason = reason
    return error


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("WRONG_VERSION_NUMBER", "does not speak TLS"),
        ("TLSV13_ALERT_CERTIFICATE_REQUIRED", "give cert and key"),
        ("NO_SHARED_CIPHER", "tlsCiphers"),
        ("SOMETHING_ELSE", "something else"),
    ],
)
def test_a_failure_is_told_in_words(reason: str, words: str) -> None:
    assert words in explained_tls(failed(reason))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (10, "expired"),
        (9, "not valid yet"),
        (18, "signed by itself"),
        (20, "authority that is not known"),
        (62, "of another host (a mismatch)"),
        (26, "another purpose"),
        (99, "is not believed: a mismatch"),
    ],
)
def test_a_certificate_that_is_not_believed_is_told_with_the_reason(code: int, words: str) -> None:
    error = ssl.SSLCertVerificationError(1, "verify failed")
    error.verify_code, error.verify_message = code, "a mismatch."
    assert words in explained_tls(error)


def test_other_errors_keep_their_words() -> None:
    assert "hung up" in explained_tls(ConnectionResetError())
    assert explained_tls(OSError("no route")) == "no route"
    assert explained_tls(ValueError()) == "ValueError"
