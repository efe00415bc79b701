"""Servers that ask who sends a request, and servers that speak TLS only: Apache's and ours, with
the same users and certificates.
"""

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from aerobee import connect_sync
from aerobee.model.access import Rights, Rule, User
from tests.interop.apache import Jars
from tests.interop.features.servers import AerobeeServer, ApacheServer, Server
from tests.tls_kit import certificates

ROOT, ROOT_SECRET = "root", "root-secret"
_PACKAGE = "org.apache.rocketmq.auth"
SETTINGS: Mapping[str, object] = {
    "authenticationEnabled": "true",
    "authenticationProvider": f"{_PACKAGE}.authentication.provider.DefaultAuthenticationProvider",
    "authenticationMetadataProvider": (
        f"{_PACKAGE}.authentication.provider.LocalAuthenticationMetadataProvider"
    ),
    "authorizationEnabled": "true",
    "authorizationProvider": f"{_PACKAGE}.authorization.provider.DefaultAuthorizationProvider",
    "authorizationMetadataProvider": (
        f"{_PACKAGE}.authorization.provider.LocalAuthorizationMetadataProvider"
    ),
    "initAuthenticationUser": f'{{"username":"{ROOT}","password":"{ROOT_SECRET}"}}',
    "innerClientAuthenticationCredentials": '{"accessKey":"inner","secretKey":"inner-secret"}',
}


def secret_of(name: str) -> str:
    return f"{name}-secret"


class ApacheGuarded(ApacheServer):
    """Its name server asks nobody."""

    @property
    def target(self) -> str:
        return f"rmq://{ROOT}:{ROOT_SECRET}@{self.name_server}"


class AerobeeGuarded(AerobeeServer):
    name_server_settings = SETTINGS

    @property
    def target(self) -> str:
        return f"rmq://{ROOT}:{ROOT_SECRET}@{self.name_server}"


Guarded = ApacheGuarded | AerobeeGuarded


def start_guarded(name: str, folder: Path, jars: Jars) -> Guarded:
    if name == "apache":
        return ApacheGuarded(folder, jars, SETTINGS)
    return AerobeeGuarded(folder, SETTINGS)


def make_user(server: Guarded, name: str, *rules: Rule) -> None:
    with connect_sync(server.target) as client:
        client.admin.access.create_user(User(name, secret_of(name)))
        if rules:
            client.admin.access.create_rights(Rights(f"User:{name}", rules))


def stored(server: "Guarded | ApacheTls | AerobeeTls", topic: str) -> int:
    """The number of messages in a topic."""
    with connect_sync(server.target) as client:
        queues = client.admin.topics.stats(topic).queues.values()
    return sum(queue.max_offset - queue.min_offset for queue in queues)


class TlsServer(Server):
    """A server of which no port takes plain text."""

    @property
    @abstractmethod
    def target(self) -> str: ...


def _target(name_server: str) -> str:
    return f"rmqs://{name_server}?ca={quote(certificates().authority)}"


class ApacheTls(ApacheServer, TlsServer):
    @property
    def target(self) -> str:
        return _target(self.name_server)


class AerobeeTls(AerobeeServer, TlsServer):
    @property
    def target(self) -> str:
        return _target(self.name_server)


def start_tls(name: str, folder: Path, jars: Jars) -> ApacheTls | AerobeeTls:
    made = certificates()
    if name == "aerobee":
        settings = {
            "tlsMode": "enforcing",
            "tlsCertificate": made.host.certificate,
            "tlsKey": made.host.key,
            "tlsAuthority": made.authority,
        }
        AerobeeTls.name_server_settings = settings
        return AerobeeTls(folder, settings)
    ApacheTls.options = (
        *("-Dtls.server.mode=enforcing", "-Dtls.test.mode.enable=false", "-Dtls.enable=true"),
        f"-Dtls.server.certPath={made.host.certificate}",
        f"-Dtls.server.keyPath={made.host.key}",
        "-Dtls.client.authServer=true",
        f"-Dtls.client.trustCertPath={made.authority}",
    )
    return ApacheTls(folder, jars)
