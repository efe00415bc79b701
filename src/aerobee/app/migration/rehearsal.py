"""Rehearsal of a migration: judges everything that could refuse it, before anything is changed.

    cluster    the name servers, the version of the master, its other slaves
    settings   the size of log files, values that are not possible here
    features   of the master, which Aerobee does not have
    here       the store's folder, the room on its disk, the ports

`bad` is a reason not to begin; `warn` is to be known before.
"""

import os
import re
import socket
from collections.abc import Iterator
from contextlib import closing

from aerobee.app.diagnosis.finding import BAD, OK, WARN, Finding
from aerobee.app.load.workload.amounts import shown_bytes
from aerobee.app.migration.carried_settings import NewPlace, carried_settings, missing_features
from aerobee.app.migration.master_facts import MasterFacts
from aerobee.app.settings.broker_settings import VIP_PORT_STEP
from aerobee.app.settings.config import given_in_file
from aerobee.model.topic import MESSAGE_TYPE

ROOM_FACTOR = 1.3
"""Room on the disk, as a multiple of the log: consume queues and indexes are beside it."""
ROOM_BYTES = 1 << 30
"""And at least so much, for new messages."""
LMQ_PREFIX = "%LMQ%"
LITE = "LITE"
_UNSUPPORTED = {
    "enableLmq": "light message queues (LMQ)",
    "enableMultiDispatch": "messages in several queues (LMQ)",
    "timerRocksDBEnable": "timers in RocksDB",
    "transRocksDBEnable": "transactions in RocksDB",
    "popConsumerKVServiceEnable": "pop state in RocksDB",
}
"""Settings of RocketMQ that are true or false, and the feature that each turns on."""


def rehearse(facts: MasterFacts, place: NewPlace, free_bytes: int) -> list[Finding]:
    """All findings. `free_bytes`: on the disk of the new store."""
    return [
        *_cluster(facts),
        *_settings(facts),
        *_features(facts),
        *_room(facts, place, free_bytes),
        *_store(place),
        *_ports(place),
    ]


def _cluster(facts: MasterFacts) -> Iterator[Finding]:
    kind = "Aerobee" if facts.is_aerobee else "RocketMQ"
    yield Finding(OK, "cluster", facts.name, f"{kind} {facts.runtime.version} at {facts.address}")
    for address, problem in facts.name_servers.items():
        if problem is not None:
            yield Finding(
                BAD,
                "cluster",
                f"name server {address}",
                problem,
                "start it, or leave it out of -n",
                "its clients would not hear of the new broker",
            )
    major = re.match(r"V?(\d+)", facts.runtime.version)
    if major is not None and int(major[1]) < 4:
        yield Finding(
            BAD,
            "cluster",
            "version",
            facts.runtime.version,
            "upgrade the master to RocketMQ 4 or 5",
            "older logs have another format",
        )
    if facts.slave_ids:
        ids = ", ".join(map(str, facts.slave_ids))
        yield Finding(
            WARN,
            "cluster",
            "slaves",
            f"the master has slaves with the ids {ids}",
            "stop them before, or let them follow the new master",
            "they copy the log of the new master once it is registered",
        )


def _settings(facts: MasterFacts) -> Iterator[Finding]:
    _, refused = carried_settings(facts.settings)
    for key, reason in refused.items():
        is_log_size = key == "mappedFileSizeCommitLog"
        yield Finding(
            BAD if is_log_size else WARN,
            "settings",
            key,
            reason,
            "change it on the master" if is_log_size else "the default is used here",
            "the files of a slave are as large as those of its master"
            if is_log_size
            else "the new broker would not start with it",
        )
    size = facts.settings.get("mappedFileSizeCommitLog", "")
    if not size:
        yield Finding(
            BAD,
            "settings",
            "mappedFileSizeCommitLog",
            "the master does not tell it",
            "allow this client to read the master's settings",
            "the files of a slave are as large as those of its master",
        )
    elif "mappedFileSizeCommitLog" not in refused:
        yield Finding(OK, "settings", "mappedFileSizeCommitLog", size)
    if facts.settings.get("brokerRole") == "SYNC_MASTER":
        yield Finding(
            WARN,
            "settings",
            "brokerRole",
            "the master is a SYNC_MASTER, and the new one will be an ASYNC_MASTER",
            "start a slave of the new master, then change its role",
            "it has no slave when it takes over, and would refuse sends",
        )


def _features(facts: MasterFacts) -> Iterator[Finding]:
    used = dict(missing_features(facts.settings))
    for key, words in _UNSUPPORTED.items():
        if facts.settings.get(key, "").lower() == "true":
            used[key] = f"there are no {words} here"
    for key, reason in used.items():
        yield Finding(
            BAD,
            "features",
            key,
            f"{facts.settings[key]!r} on the master",
            "migrate this broker later, or change it before",
            reason,
        )
    light = [one.name for one in facts.topics if one.name.startswith(LMQ_PREFIX)]
    # RocketMQ's own setting for them is on by default, whether or not there are any.
    lite = [one.name for one in facts.topics if one.attributes.get(MESSAGE_TYPE) == LITE]
    kinds = {"LMQ topics": light, "lite topics": lite}
    for words, names in kinds.items():
        if names:
            yield Finding(
                BAD,
                "features",
                words,
                ", ".join(sorted(names)[:5]),
                "move their messages to plain topics",
                f"there are no {words} here",
            )
    if not used and not any(kinds.values()):
        yield Finding(OK, "features", "in use", f"all of {len(facts.topics)} topics can be kept")


def _room(facts: MasterFacts, place: NewPlace, free_bytes: int) -> Iterator[Finding]:
    wanted = _missing_bytes(facts, place) * ROOM_FACTOR + ROOM_BYTES
    seen = f"{shown_bytes(free_bytes)} free, {shown_bytes(wanted)} are needed"
    if free_bytes < wanted:
        why = "the log, its consume queues and indexes, and new messages"
        yield Finding(BAD, "here", "room", seen, "make room, or choose another --store", why)
    else:
        yield Finding(OK, "here", "room", seen)


def _missing_bytes(facts: MasterFacts, place: NewPlace) -> int:
    """The bytes of the master's log that are not in the folder yet."""
    folder = os.path.join(place.store, "commitlog")
    files = os.listdir(folder) if os.path.isdir(folder) else []
    # Blocks, because the last file is as large as all are, and mostly empty.
    here = sum(os.stat(os.path.join(folder, one)).st_blocks * 512 for one in files)
    return max(0, facts.runtime.log_end - facts.runtime.log_start - here)


def _store(place: NewPlace) -> Iterator[Finding]:
    changes = os.path.join(place.store, "config", "aerobee.properties")
    texts = {one.key: one.text for one in given_in_file(changes)} if _is_file(changes) else {}
    if texts.get("brokerRole", "SLAVE") != "SLAVE":
        yield Finding(
            BAD,
            "here",
            "store",
            f"{place.store} is the store of a master",
            "choose another --store, or move this one away",
            "a migration begins with a slave",
        )
    elif _has_log(place) and not _is_file(place.config_path):
        yield Finding(
            BAD,
            "here",
            "store",
            f"{place.store} has messages that no migration brought there",
            "choose an empty folder with --store",
            "what the master does not have would be cut off",
        )
    elif _has_log(place):
        yield Finding(OK, "here", "store", f"{place.store} is from an earlier run, which goes on")
    else:
        yield Finding(OK, "here", "store", f"{place.store} is empty")


def _is_file(path: str) -> bool:
    return os.path.isfile(path)


def _has_log(place: NewPlace) -> bool:
    folder = os.path.join(place.store, "commitlog")
    return os.path.isdir(folder) and bool(os.listdir(folder))


def _ports(place: NewPlace) -> Iterator[Finding]:
    if place.port == 0:
        return
    for port in (place.port, place.port - VIP_PORT_STEP, place.port + 1):
        with closing(socket.socket()) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((place.host, port))
            except OSError as error:
                yield Finding(
                    BAD,
                    "here",
                    f"port {port}",
                    f"{place.host}:{port}: {error.strerror}",
                    "choose another with --port",
                    "a broker listens there, two below, and for slaves one above",
                )
            else:
                yield Finding(OK, "here", f"port {port}", "free")
