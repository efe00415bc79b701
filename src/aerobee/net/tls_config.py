"""TlsConfig: the settings of encrypted connections, frozen, and their names.

The same for brokers and name servers. All but the content of the files is read at the start; files
that change are read again (`app/process/tls_files.py`).
"""

import ssl
from dataclasses import dataclass, field
from enum import Enum

from aerobee.model.setting import TEXT, TRUTH, Setting

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


class TlsMode(Enum):
    DISABLED = "disabled"
    PERMISSIVE = "permissive"
    ENFORCING = "enforcing"


class Asked(Enum):
    """Whether those who connect are asked for a certificate."""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRE = "require"


class Lower:
    """One of an enum's members, by its value in lower case."""

    def __init__(self, members: type[Enum]) -> None:
        self._members = members

    def read(self, text: str) -> Enum:
        for member in self._members:
            if member.value == text.lower():
                return member
        raise ValueError(" or ".join(str(member.value) for member in self._members))

    def write(self, value: Enum) -> str:
        return str(value.value)


class Versions:
    """Versions of TLS, with commas in between."""

    def read(self, text: str) -> tuple[str, ...]:
        found = tuple(part.strip() for part in text.split(",") if part.strip())
        if not all(one in _VERSIONS for one in found):
            raise ValueError("TLSv1.2, TLSv1.3, or both with a comma in between")
        return found

    def write(self, value: tuple[str, ...]) -> str:
        return ",".join(value)


class Names:
    """Names of hosts, with commas in between."""

    def read(self, text: str) -> tuple[str, ...]:
        return tuple(part.strip().lower() for part in text.split(",") if part.strip())

    def write(self, value: tuple[str, ...]) -> str:
        return ",".join(value)


class Password:
    """A password, which is never written: settings are printed."""

    def read(self, text: str) -> str:
        return text

    def write(self, value: str) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class TlsConfig:
    mode: TlsMode = TlsMode.DISABLED
    """disabled: nobody speaks TLS here. permissive: TLS and plain text on the same ports, told
    apart by the first byte. enforcing: TLS only."""
    certificate: str = ""
    """The PEM file with the certificate of this host, and those between it and its authority."""
    key: str = ""
    """The PEM file with the key of the certificate; refused if others may read it."""
    key_password: str = field(default="", repr=False)
    """For a key that is encrypted."""
    authority: str = ""
    """The PEM file with the authorities whose certificates are believed: of clients, of slaves, of
    the servers that this one connects to. Empty: those that the system trusts."""
    asks_clients: Asked = Asked.NONE
    """Whether clients are asked for a certificate: none, optional, require. What is shown is
    checked. The HA port always requires one."""
    peers: tuple[str, ...] = ()
    """Names in the certificates of brokers that may copy the log, with commas in between. Empty:
    any certificate with the name of a host; a client's has none."""
    is_outgoing: bool | None = None
    """Whether this process connects to others by TLS. Unless set: if the mode is enforcing."""
    outgoing_certificate: str = ""
    """The certificate that is shown to others. Empty: the one above."""
    outgoing_key: str = ""
    outgoing_key_password: str = field(default="", repr=False)
    outgoing_authority: str = ""
    """The authorities of the servers that this one connects to. Empty: those above."""
    ciphers: str = ""
    """OpenSSL's names of ciphers of TLS 1.2, with commas in between. Empty: OpenSSL's choice."""
    protocols: tuple[str, ...] = ()
    """TLSv1.2, TLSv1.3. Empty: both."""
    file: str = ""
    """A file with more of these settings, as RocketMQ has them in one of their own."""
    checks_clients: str = "true"
    checks_servers: str = "true"
    is_test: str = "false"

    def __post_init__(self) -> None:
        if self.mode is not TlsMode.DISABLED and not (self.certificate and self.key):
            raise ValueError(
                f"tlsMode={self.mode.value} needs tlsCertificate and tlsKey: "
                "`aerobee tls init` makes them"
            )
        if bool(self.outgoing_certificate) != bool(self.outgoing_key):
            raise ValueError("tlsOutgoingCertificate and tlsOutgoingKey go together")

    @property
    def dials_tls(self) -> bool:
        if self.is_outgoing is None:
            return self.mode is TlsMode.ENFORCING
        return self.is_outgoing

    @property
    def authenticates(self) -> bool:
        """Whether nobody comes in without a certificate."""
        return self.mode is TlsMode.ENFORCING and self.asks_clients is Asked.REQUIRE

    @property
    def is_used(self) -> bool:
        return self.dials_tls or self.mode is not TlsMode.DISABLED

    def versions(self) -> tuple[ssl.TLSVersion, ssl.TLSVersion]:
        """The lowest and the highest version of TLS."""
        chosen = [_VERSIONS[one] for one in self.protocols or _VERSIONS]
        return min(chosen), max(chosen)


PLAIN = TlsConfig()
"""Nobody speaks TLS."""


class MaybeTruth:
    """True, false, or nothing said."""

    def read(self, text: str) -> bool | None:
        return TRUTH.read(text) if text else None

    def write(self, value: bool | None) -> str:
        return "" if value is None else TRUTH.write(value)


class Fixed:
    """A switch of RocketMQ with one position here."""

    def __init__(self, text: str, reason: str) -> None:
        self._text = text
        self._reason = reason

    def read(self, text: str) -> str:
        if text.lower() != self._text:
            raise ValueError(f"{self._text} ({self._reason})")
        return self._text

    def write(self, value: str) -> str:
        return value


SETTINGS = (
    Setting("tlsMode", "mode", Lower(TlsMode)),
    Setting("tlsCertificate", "certificate", TEXT),
    Setting("tlsKey", "key", TEXT),
    Setting("tlsKeyPassword", "key_password", Password()),
    Setting("tlsAuthority", "authority", TEXT),
    Setting("tlsClientCertificates", "asks_clients", Lower(Asked)),
    Setting("tlsPeers", "peers", Names()),
    Setting("tlsOutgoing", "is_outgoing", MaybeTruth()),
    Setting("tlsOutgoingCertificate", "outgoing_certificate", TEXT),
    Setting("tlsOutgoingKey", "outgoing_key", TEXT),
    Setting("tlsOutgoingKeyPassword", "outgoing_key_password", Password()),
    Setting("tlsOutgoingAuthority", "outgoing_authority", TEXT),
    Setting("tlsCiphers", "ciphers", TEXT),
    Setting("tlsProtocols", "protocols", Versions()),
    Setting("tls.config.file", "file", TEXT),
    Setting(
        "tls.server.authClient",
        "checks_clients",
        Fixed("true", "a certificate that is shown is checked"),
    ),
    Setting("tls.client.authServer", "checks_servers", Fixed("true", "servers are always checked")),
    Setting(
        "tls.test.mode.enable",
        "is_test",
        Fixed("false", "make certificates with `aerobee tls init`"),
    ),
)
_SHOWN = ("tlsMode", "tlsClientCertificates", "tlsPeers", "tlsOutgoing", "tlsProtocols")
SHOWN_SETTINGS = tuple(setting for setting in SETTINGS if setting.key in _SHOWN)
"""Those that clients may read: no path."""
ROCKETMQ_NAMES = {
    "tls.server.mode": "tlsMode",
    "tls.server.certPath": "tlsCertificate",
    "tls.server.keyPath": "tlsKey",
    "tls.server.keyPassword": "tlsKeyPassword",
    "tls.server.trustCertPath": "tlsAuthority",
    "tls.server.need.client.auth": "tlsClientCertificates",
    "tls.enable": "tlsOutgoing",
    "useTLS": "tlsOutgoing",
    "tls.client.certPath": "tlsOutgoingCertificate",
    "tls.client.keyPath": "tlsOutgoingKey",
    "tls.client.keyPassword": "tlsOutgoingKeyPassword",
    "tls.client.trustCertPath": "tlsOutgoingAuthority",
    "tls.ciphers": "tlsCiphers",
    "tls.protocols": "tlsProtocols",
}
"""RocketMQ's own keys, and which setting each of them is."""
