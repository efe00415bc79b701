import base64
import time
from pathlib import Path

import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.text.certificate import read_certificates
from tests.tls_kit import HOSTS, certificates

DAY = 86_400


def test_a_certificate_is_read_as_openssl_wrote_it() -> None:
    made = certificates()
    (host,) = read_certificates(Path(made.host.certificate).read_text())
    assert (host.subject, host.issuer, host.hosts) == ("host", "Authority own", HOSTS)
    assert not host.is_authority
    assert abs(host.starts - time.time()) < DAY
    assert host.ends - host.starts == 397 * DAY
    (authority,) = read_certificates(Path(made.authority).read_text())
    assert authority.is_authority
    assert authority.hosts == ()
    (client,) = read_certificates(Path(made.client.certificate).read_text())
    assert client.hosts == ()
    (expired,) = read_certificates(Path(made.expired.certificate).read_text())
    assert expired.ends < time.time()


def test_a_file_may_have_several() -> None:
    made = certificates()
    both = Path(made.host.certificate).read_text() + Path(made.authority).read_text()
    assert [one.subject for one in read_certificates(both)] == ["host", "Authority own"]


@pytest.mark.parametrize("text", ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAA"])
def test_a_file_without_one_is_refused(text: str) -> None:
    with pytest.raises(RemoteProtocolError, match="no PEM certificate"):
        read_certificates(text)


def _pem(data: bytes) -> str:
    body = base64.b64encode(data).decode()
    return f"-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n"


def test_every_prefix_of_a_certificate_is_refused() -> None:
    text = Path(certificates().host.certificate).read_text()
    whole = base64.b64decode("".join(text.splitlines()[1:-1]))
    assert read_certificates(_pem(whole))
    for size in range(1, len(whole) - 1):
        with pytest.raises(RemoteProtocolError):
            read_certificates(_pem(whole[:size]))


def test_a_changed_byte_is_read_or_refused_and_nothing_else() -> None:
    text = Path(certificates().host.certificate).read_text()
    whole = bytearray(base64.b64decode("".join(text.splitlines()[1:-1])))
    for at in range(len(whole)):
        changed = bytes(whole[:at]) + bytes([whole[at] ^ 0xFF]) + bytes(whole[at + 1 :])
        try:
            read_certificates(_pem(changed))
        except RemoteProtocolError:
            continue


def test_what_is_no_base64_is_refused() -> None:
    with pytest.raises(RemoteProtocolError, match="base64"):
        read_certificates("-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----")
