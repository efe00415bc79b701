"""Settings of the new broker: those of the master that concern its files and its applications, and
those of the place where the new one runs.

Settings of the master's machine (threads, memory, paths, ports) are not carried over, nor are those
of its replication: the new broker has no slave yet, and would refuse sends.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from aerobee.app.settings.broker_settings import FIXED_SETTINGS, STORAGE_SETTINGS
from aerobee.app.settings.config import ListenConfig
from aerobee.protocol.text.java_properties import write_properties
from aerobee.service.broker.config import SETTINGS

CARRIED = (
    "mappedFileSizeCommitLog",
    "mappedFileSizeConsumeQueue",
    "messageDelayLevel",
    "messageIndexEnable",
    "enabledAppendPropCRC",
    "flushDiskType",
    "fileReservedTime",
    "autoCreateTopicEnable",
    "autoCreateSubscriptionGroup",
    "defaultTopicQueueNums",
    "maxMessageSize",
    "regionId",
    "traceTopicEnable",
    "rejectTransactionMessage",
    "transactionTimeOut",
    "transactionCheckInterval",
    "transactionCheckMax",
    "enablePropertyFilter",
    "enableTopicMessageTypeCheck",
    "timerWheelEnable",
    "timerPrecisionMs",
    "timerMaxDelaySec",
    "recallMessageEnable",
)
_KINDS = {setting.key: setting.kind for setting in (*STORAGE_SETTINGS, *SETTINGS)}


@dataclass(frozen=True, slots=True)
class NewPlace:
    """The place where the new broker is to run."""

    store: str
    host: str = "127.0.0.1"
    """The address to listen on."""
    port: int = 10911
    ip: str = ""
    """The address that clients use; empty: as it listens."""

    @property
    def config_path(self) -> str:
        return os.path.join(self.store, "broker.conf")


def carried_settings(theirs: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the settings to carry over, and those of them that cannot be, with the reason."""
    carried, refused = {}, {}
    for key in CARRIED:
        if key in theirs:
            try:
                _KINDS[key].read(theirs[key])
            except ValueError as wanted:
                refused[key] = f"{theirs[key]!r} is not possible here: it must be {wanted}"
            else:
                carried[key] = theirs[key]
    return carried, refused


def missing_features(theirs: Mapping[str, str]) -> dict[str, str]:
    """Settings of the master that stand for features which Aerobee does not have, with reasons."""
    found = {}
    for setting in FIXED_SETTINGS:
        if setting.key in theirs:
            try:
                setting.kind.read(theirs[setting.key])
            except ValueError as wanted:
                found[setting.key] = str(wanted)
    if theirs.get("authenticationEnabled", "").lower() == "true":
        found["authenticationEnabled"] = (
            "its users and rules are not carried over: make them again with `aerobee auth`"
        )
    return found


def config_text(
    names: Mapping[str, str], carried: Mapping[str, str], place: NewPlace, role: Mapping[str, str]
) -> str:
    """The text of the new broker's file. `names` are its name, cluster and name servers, `role` its
    brokerRole and brokerId."""
    here = {
        "storePathRootDir": os.path.abspath(place.store),
        "bindAddress": place.host,
        # As open as the broker that it takes over from: users are made after the move.
        **({"insecure": "true"} if ListenConfig(place.port, place.host).is_open else {}),
        "listenPort": str(place.port),
        **({"brokerIP1": place.ip} if place.ip else {}),
    }
    return write_properties({**names, **role, **here, **carried})
