"""Settings of a proxy process: RocketMQ's `rmq-proxy.json`, variables that begin with
`AEROBEE_PROXY_`, and flags.

    defaults  <  NAMESRV_ADDR  <  file (-c)  <  environment  <  flags

A file may be JSON, as RocketMQ's, or lines of `key=value`, as those of the other servers. Keys have
the meaning that they have there; those of threads, caches and of the remoting port have none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aerobee.app.settings.audit_settings import AUDIT_SETTINGS, AuditConfig
from aerobee.app.settings.broker_settings import nameservers_in
from aerobee.app.settings.config import (
    INSECURE_SETTING,
    BadConfig,
    Given,
    ListenConfig,
    Reading,
    exposure,
    given_in_environment,
    given_in_file,
)
from aerobee.app.settings.monitor_settings import (
    MONITOR_SETTINGS,
    MonitorConfig,
    page_mistakes,
    pages_at,
)
from aerobee.app.settings.setting_kinds import ADDRESSES, HOST, Only
from aerobee.app.settings.tls_settings import TLS_KEYS, given_in_tls_file, with_our_names
from aerobee.errors import ProtocolError
from aerobee.model.setting import PORT, TEXT, Setting
from aerobee.net.tls_config import SETTINGS as TLS_SETTINGS
from aerobee.net.tls_config import TlsConfig, TlsMode
from aerobee.protocol.text.json_text import parse
from aerobee.service.access.config import CLASS_SETTINGS, AccessClasses, AccessConfig
from aerobee.service.access.config import SETTINGS as ACCESS_SETTINGS
from aerobee.service.access.request_limits import NO_LIMITS, LimitConfig
from aerobee.service.gateway.config import LIMIT_SETTINGS, SETTINGS, GatewayConfig

PREFIX = "AEROBEE_PROXY_"
GRPC_PORT = 8081
MONITOR_PORT = 5559
"""The one after a name server's: all may be on one machine."""
_IN_BROKER = "the service inside a broker is its own grpcServerPort; or leave this out"

PROXY_LISTEN_SETTINGS = (
    Setting("grpcServerPort", "port", PORT),
    Setting("bindAddress", "host", TEXT),
    INSECURE_SETTING,
)


@dataclass(frozen=True, slots=True)
class ProxyLinks:
    nameservers: tuple[str, ...] = ()
    """The name servers, which say where brokers are."""
    host: str = ""
    """The host under which clients reach the proxy, for those that do not say how they came.
    Empty: the one that it listens on."""
    mode: str = "CLUSTER"
    """The brokers are elsewhere."""


LINK_SETTINGS = (
    Setting("namesrvAddr", "nameservers", ADDRESSES),
    Setting("localServeAddr", "host", HOST),
    Setting("proxyMode", "mode", Only("CLUSTER", _IN_BROKER)),
)
ALL_SETTINGS = (
    *PROXY_LISTEN_SETTINGS,
    *LINK_SETTINGS,
    *MONITOR_SETTINGS,
    *AUDIT_SETTINGS,
    *ACCESS_SETTINGS,
    *CLASS_SETTINGS,
    *TLS_SETTINGS,
    *SETTINGS,
    *LIMIT_SETTINGS,
)
# Threads, caches and Java's network library; the remoting port; limits that are the same here.
IGNORED = frozenset(
    {
        "channelExpiredTimeout",
        "enableBatchAck",
        "enableGrpcEpoll",
        "enableProxyAutoRenew",
        "enableRemotingLocalProxyGrpc",
        "enableTopicMessageTypeCheck",
        "grpcBossLoopNum",
        "grpcClientIdleTimeMills",
        "grpcClientManagerThreadPoolNums",
        "grpcClientManagerThreadQueueCapacity",
        "grpcConsumerThreadPoolNums",
        "grpcConsumerThreadQueueCapacity",
        "grpcMaxInboundMessageSize",
        "grpcProducerThreadPoolNums",
        "grpcProducerThreadQueueCapacity",
        "grpcRouteThreadPoolNums",
        "grpcRouteThreadQueueCapacity",
        "grpcShutdownTimeSeconds",
        "grpcThreadPoolNums",
        "grpcThreadPoolQueueCapacity",
        "grpcTransactionThreadPoolNums",
        "grpcTransactionThreadQueueCapacity",
        "grpcWorkerLoopNum",
        "heartbeatSyncerTopicClusterName",
        "metricCollectorMode",
        "proxyClusterName",
        "proxyName",
        "remotingAccessAddr",
        "remotingListenPort",
        "subscriptionGroupConfigCacheExpiredSeconds",
        "subscriptionGroupConfigCacheRefreshSeconds",
        "tlsTestModeEnable",
        "topicConfigCacheExpiredSeconds",
        "topicConfigCacheRefreshSeconds",
        "topicRouteServiceCacheExpiredSeconds",
        "topicRouteServiceCacheRefreshSeconds",
    }
)


@dataclass(frozen=True, slots=True)
class ProxySettings:
    """All settings of a proxy process."""

    listen: ListenConfig
    links: ProxyLinks
    monitor: MonitorConfig
    service: GatewayConfig
    limits: LimitConfig
    access: AccessConfig
    tls: TlsConfig
    audit: AuditConfig
    ignored: Sequence[str]
    effective: str

    @property
    def pages_at(self) -> ListenConfig:
        """Where the monitoring page is."""
        asks, encrypts = self.access.authenticates, self.tls.mode is TlsMode.ENFORCING
        return pages_at(self.monitor, self.listen, asks=asks, encrypts=encrypts)

    @property
    def is_exposed(self) -> bool:
        """Whether other machines may reach it, and nobody is asked who it is."""
        return self.listen.is_open and not (self.access.authenticates or self.tls.authenticates)


def read_settings(
    file: str | None, environment: Mapping[str, str], flags: Sequence[Given]
) -> ProxySettings:
    """Read the settings of a proxy. BadConfig lists everything that is wrong."""
    in_file = _given_in(file) if file is not None else []
    keys = [*(setting.key for setting in ALL_SETTINGS), *IGNORED, *TLS_KEYS]
    highest = with_our_names([*given_in_environment(environment, PREFIX, keys), *flags])
    lowest = with_our_names([*given_in_tls_file([*in_file, *highest]), *in_file])
    given = [*nameservers_in(environment), *lowest, *highest]
    reading = Reading(given, prefix=PREFIX, ignored=IGNORED)
    listen = reading.build(ListenConfig(GRPC_PORT), PROXY_LISTEN_SETTINGS)
    links = reading.build(ProxyLinks(), LINK_SETTINGS)
    monitor = reading.build(MonitorConfig(port=MONITOR_PORT), MONITOR_SETTINGS)
    access = reading.build(AccessConfig(), ACCESS_SETTINGS)
    reading.build(AccessClasses(), CLASS_SETTINGS)
    tls = reading.build(TlsConfig(), TLS_SETTINGS)
    audit = reading.build(AuditConfig(), AUDIT_SETTINGS)
    service = reading.build(GatewayConfig(), SETTINGS)
    limits = reading.build(NO_LIMITS, LIMIT_SETTINGS)
    encrypts = tls.mode is TlsMode.ENFORCING
    reading.refuse(
        [
            *_link_mistakes(links, listen, access, tls),
            *exposure(listen, is_guarded=access.authenticates or tls.authenticates),
            *page_mistakes(monitor, asks=access.authenticates, encrypts=encrypts),
        ]
    )
    reading.finish()
    told = (reading.ignored(), reading.effective())
    return ProxySettings(listen, links, monitor, service, limits, access, tls, audit, *told)


def _link_mistakes(
    links: ProxyLinks, listen: ListenConfig, access: AccessConfig, tls: TlsConfig
) -> list[str]:
    wrong = []
    if not links.nameservers:
        wrong.append("namesrvAddr is missing: say where name servers are, -n HOST:PORT")
    asks = access.authenticates or tls.authenticates
    if access.inner is not None and not asks and not listen.is_insecure:
        wrong.append(
            "innerClientAuthenticationCredentials without authenticationEnabled would give every "
            "caller the rights of that user: set authenticationEnabled=true and "
            "initAuthenticationUser; to give them all the same, say --insecure (insecure=true)"
        )
    return wrong


def _given_in(path: str) -> list[Given]:
    """The values in a file, of either form."""
    if not path.endswith(".json"):
        return given_in_file(path)
    try:
        with open(path, "rb") as file:
            members = parse(file.read())
    except OSError as error:
        raise BadConfig([f"{path} cannot be read: {error.strerror}"]) from None
    except ProtocolError as error:
        raise BadConfig([f"{path} is no JSON: {error.message}"]) from None
    if not isinstance(members, Mapping):
        raise BadConfig([f"{path} is no JSON object"])
    return [Given(str(key), _text_of(value), path) for key, value in members.items()]


def _text_of(value: object) -> str:
    """A value of JSON as it would be in a file of lines."""
    return str(value).lower() if isinstance(value, bool) else str(value)
