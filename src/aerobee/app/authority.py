"""Authority makes certificates for a cluster: its own once, then one for each host and client.

    DIR/ca.key, DIR/ca.crt         of the authority; ca.crt goes everywhere, ca.key nowhere
    DIR/NAME.key, DIR/NAME.crt     of a host or a client

Keys are of the curve P-256, which costs a server less than RSA for each handshake, and are
files of mode 0600. The command `openssl` does the work (decision 0027): keys never leave the
files, and nothing is asked of it that an operator could not type.
"""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from ipaddress import ip_address

from aerobee.errors import Misuse

AUTHORITY_DAYS = 3650
CERTIFICATE_DAYS = 397
"""A little more than a year; some clients refuse more."""

_NAME = re.compile(r"[A-Za-z0-9*][A-Za-z0-9_.*-]{0,62}")
_HOST_TEXT = """\
basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=serverAuth,clientAuth
subjectKeyIdentifier=hash
authorityKeyIdentifier=keyid
subjectAltName={names}
"""
_CLIENT_TEXT = """\
basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=clientAuth
subjectKeyIdentifier=hash
authorityKeyIdentifier=keyid
"""
_AUTHORITY_TEXT = """\
[req]
distinguished_name=dn
x509_extensions=v3
prompt=no
[dn]
CN={name}
[v3]
basicConstraints=critical,CA:TRUE,pathlen:0
keyUsage=critical,keyCertSign,cRLSign
subjectKeyIdentifier=hash
"""


class Authority:
    """The authority in one folder."""

    def __init__(self, folder: str, openssl: str = "openssl") -> None:
        self._openssl_name = openssl
        self.folder = os.path.expanduser(folder)
        self.key = os.path.join(self.folder, "ca.key")
        self.certificate = os.path.join(self.folder, "ca.crt")

    def make(self, name: str = "Aerobee cluster", days: int = AUTHORITY_DAYS) -> None:
        """Make key and certificate of the authority. Misuse: there is one already."""
        if os.path.exists(self.key) or os.path.exists(self.certificate):
            raise Misuse(
                f"there is an authority in {self.folder} already",
                hint="`aerobee tls issue` makes certificates with it; another one needs another "
                "folder",
            )
        if not name.isprintable() or not 0 < len(name) <= 64 or "\\" in name:
            raise Misuse(f"{name!r} is no name for an authority")
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        with self._workshop() as place:
            self._make_key(f"{place}/key")
            _write(f"{place}/config", _AUTHORITY_TEXT.format(name=name))
            self._openssl(
                *("req", "-new", "-x509", "-key", f"{place}/key", "-config", f"{place}/config"),
                *("-sha256", "-days", str(days), "-out", f"{place}/crt"),
            )
            os.replace(f"{place}/key", self.key)
            os.replace(f"{place}/crt", self.certificate)

    def issue(
        self, name: str, hosts: Sequence[str] = (), days: int = CERTIFICATE_DAYS
    ) -> tuple[str, str]:
        """Make a key and a certificate for hosts, or for a client, which has none; returns the
        paths of both. Those of an earlier one of this name are replaced."""
        if not os.path.exists(self.key):
            raise Misuse(
                f"there is no authority in {self.folder}", hint="`aerobee tls init` makes one"
            )
        if not _NAME.fullmatch(name) or name == "ca":
            raise Misuse(f"{name!r} is no name for a certificate", hint="letters, digits and . _ -")
        text = _HOST_TEXT.format(names=_names_text(hosts)) if hosts else _CLIENT_TEXT
        stem = os.path.join(self.folder, name.replace("*", "_"))
        with self._workshop() as place:
            self._make_key(f"{place}/key")
            _write(f"{place}/extensions", text)
            _write(f"{place}/config", _AUTHORITY_TEXT.format(name=name))
            self._openssl(
                *("req", "-new", "-key", f"{place}/key", "-config", f"{place}/config"),
                *("-out", f"{place}/request"),
            )
            self._openssl(
                *("x509", "-req", "-in", f"{place}/request", "-sha256", "-days", str(days)),
                *("-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial"),
                *("-CAserial", f"{place}/serial", "-extfile", f"{place}/extensions"),
                *("-out", f"{place}/crt"),
            )
            # A server that reads them in between finds that they do not fit, and looks again.
            os.replace(f"{place}/key", f"{stem}.key")
            os.replace(f"{place}/crt", f"{stem}.crt")
        return f"{stem}.crt", f"{stem}.key"

    def _make_key(self, path: str) -> None:
        self._openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f"{path}.ec")
        # PKCS#8, which Java reads, too.
        self._openssl("pkcs8", "-topk8", "-nocrypt", "-in", f"{path}.ec", "-out", path)
        os.chmod(path, 0o600)

    def _openssl(self, *arguments: str) -> None:
        program = shutil.which(self._openssl_name)
        if program is None:
            raise Misuse("there is no openssl on the PATH", hint="install it: apt install openssl")
        done = subprocess.run(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            last = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
            raise Misuse(f"openssl {arguments[0]} failed: {last[0]}")

    @contextlib.contextmanager
    def _workshop(self) -> Iterator[str]:
        """A folder for half-made files, which only its owner can read."""
        try:
            with tempfile.TemporaryDirectory(prefix=".making-", dir=self.folder) as place:
                yield place
        except OSError as error:
            raise Misuse(f"{self.folder} cannot be written: {error.strerror}") from None


def _names_text(hosts: Sequence[str]) -> str:
    names = []
    for host in hosts:
        try:
            names.append(f"IP:{ip_address(host.strip('[]'))}")
        except ValueError:
            if not _NAME.fullmatch(host):
                raise Misuse(f"{host!r} is no host", hint="a name or an address") from None
            names.append(f"DNS:{host}")
    return ",".join(names)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
