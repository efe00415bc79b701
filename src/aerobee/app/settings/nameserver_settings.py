"""Settings of a name server process: RocketMQ's `namesrv.conf`, variables that begin with
`AEROBEE_NAMESRV_`, flags, and changes that administrators made by request.

    defaults  <  file (-c)  <  changes (configStorePath)  <  environment  <  flags

The operator's file is only read. Changes are in a file of their own; removing it undoes them.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aerobee.app.settings.audit_settings import AUDIT_SETTINGS, USUAL_AUDIT, AuditConfig
from aerobee.app.settings.config import (
    LISTEN_SETTINGS,
    PATH,
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
from aerobee.app.settings.tls_settings import TLS_KEYS, given_in_tls_file, with_our_names
from aerobee.model.setting import Setting, texts
from aerobee.net.tls_config import PLAIN, TlsConfig, TlsMode
from aerobee.net.tls_config import SETTINGS as TLS_SETTINGS
from aerobee.net.tls_config import SHOWN_SETTINGS as SHOWN_TLS_SETTINGS
from aerobee.service.access.config import CLASS_SETTINGS, AccessClasses, AccessConfig
from aerobee.service.access.config import SETTINGS as ACCESS_SETTINGS
from aerobee.service.nameserver.config import SETTINGS, NameServerConfig

PREFIX = "AEROBEE_NAMESRV_"
PORT = 9876
MONITOR_PORT = 5558
"""The one after a broker's: both may be on one machine."""


@dataclass(frozen=True, slots=True)
class NameServerPaths:
    key_values: str = os.path.expanduser("~/namesrv/kvConfig.json")
    """RocketMQ's own place, so that a name server that takes over finds what is there."""
    changes: str = os.path.expanduser("~/namesrv/namesrv.properties")
    """What administrators changed by request. Nothing else is in it."""


PATH_SETTINGS = (
    Setting("kvConfigPath", "key_values", PATH),
    Setting("configStorePath", "changes", PATH),
)
ALL_SETTINGS = (
    *LISTEN_SETTINGS,
    *PATH_SETTINGS,
    *MONITOR_SETTINGS,
    *AUDIT_SETTINGS,
    *ACCESS_SETTINGS,
    *CLASS_SETTINGS,
    *TLS_SETTINGS,
    *SETTINGS,
)
# Threads, buffers and Java's network library; what is always so here; what is not offered.
IGNORED = frozenset(
    {
        "clientRequestThreadPoolNums",
        "clientRequestThreadPoolQueueCapacity",
        "defaultThreadPoolNums",
        "defaultThreadPoolQueueCapacity",
        "serverAsyncSemaphoreValue",
        "serverCallbackExecutorThreads",
        "serverChannelMaxIdleTimeSeconds",
        "serverNettyWorkerGroupEnable",
        "serverOnewaySemaphoreValue",
        "serverPooledByteBufAllocatorEnable",
        "serverSelectorThreads",
        "serverSocketBacklog",
        "serverSocketRcvBufSize",
        "serverSocketSndBufSize",
        "serverWorkerThreads",
        "useEpollNativeSelector",
        "writeBufferHighWaterMark",
        "writeBufferLowWaterMark",
        "unRegisterBrokerQueueCapacity",
        "enableShutdownGracefully",
        "shutdownWaitTimeSeconds",
        "rocketmqHome",
        "configBlackList",
        "productEnvName",
        "clusterTest",
        "deleteTopicWithBrokerRegistration",
        "enableControllerInNamesrv",
    }
)
_REASONS = {
    "deleteTopicWithBrokerRegistration": (
        "a registration may be of the topics that changed; delete a topic at the name servers, too"
    ),
}
WITHOUT_EFFECT = {key: _REASONS.get(key, "") for key in IGNORED}
"""Told to a tool that asks to change one of them."""


@dataclass(frozen=True, slots=True)
class NameServerSettings:
    """All settings of a name server process."""

    listen: ListenConfig
    paths: NameServerPaths
    monitor: MonitorConfig
    service: NameServerConfig
    access: AccessConfig
    changes: Mapping[str, str]
    """What the file of changes says, as it says it."""
    ignored: Sequence[str]
    effective: str
    tls: TlsConfig = PLAIN
    audit: AuditConfig = USUAL_AUDIT

    @property
    def pages_at(self) -> ListenConfig:
        """Where the monitoring page is."""
        asks, encrypts = self.access.authenticates, self.tls.mode is TlsMode.ENFORCING
        return pages_at(self.monitor, self.listen, asks=asks, encrypts=encrypts)

    @property
    def is_exposed(self) -> bool:
        """Whether other machines may reach it, and nobody is asked who it is."""
        return self.listen.is_open and not (self.access.authenticates or self.tls.authenticates)

    def shown(self) -> dict[str, str]:
        """Settings, besides the service's own, that clients may read: no path."""
        return {
            **texts(self.listen, LISTEN_SETTINGS),
            **texts(self.access, ACCESS_SETTINGS),
            **texts(self.tls, SHOWN_TLS_SETTINGS),
        }


def read_settings(
    file: str | None, environment: Mapping[str, str], flags: Sequence[Given]
) -> NameServerSettings:
    """Read the settings of a name server. BadConfig lists everything that is wrong."""
    in_file = given_in_file(file) if file is not None else []
    keys = [*(setting.key for setting in ALL_SETTINGS), *IGNORED, *TLS_KEYS]
    highest = with_our_names([*given_in_environment(environment, PREFIX, keys), *flags])
    lowest = with_our_names([*given_in_tls_file([*in_file, *highest]), *in_file])
    # Where the changes are has to be known before they can be read, below the environment.
    first = Reading([*lowest, *highest], prefix=PREFIX, ignored=IGNORED)
    path = first.build(NameServerPaths(), PATH_SETTINGS).changes
    if file is not None and os.path.realpath(file) == os.path.realpath(path):
        raise BadConfig([f"configStorePath is {file} itself, which is only read"])
    changed = given_in_file(path) if os.path.exists(path) else []
    reading = Reading([*lowest, *changed, *highest], prefix=PREFIX, ignored=IGNORED)
    listen = reading.build(ListenConfig(PORT), LISTEN_SETTINGS)
    paths = reading.build(NameServerPaths(), PATH_SETTINGS)
    monitor = reading.build(MonitorConfig(port=MONITOR_PORT), MONITOR_SETTINGS)
    access = reading.build(AccessConfig(), ACCESS_SETTINGS)
    reading.build(AccessClasses(), CLASS_SETTINGS)
    tls = reading.build(TlsConfig(), TLS_SETTINGS)
    audit = reading.build(AuditConfig(), AUDIT_SETTINGS)
    service = reading.build(NameServerConfig(), SETTINGS)
    wrong = exposure(listen, is_guarded=access.authenticates or tls.authenticates)
    encrypts = tls.mode is TlsMode.ENFORCING
    wrong += page_mistakes(monitor, asks=access.authenticates, encrypts=encrypts)
    reading.refuse(wrong)
    reading.finish()
    return NameServerSettings(
        listen,
        paths,
        monitor,
        service,
        access,
        {key: text for key, text, _ in changed},
        reading.ignored(),
        reading.effective(),
        tls,
        audit,
    )
