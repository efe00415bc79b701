"""Registration registers the broker and its topics with every name server, each independently.

    at the start, and every `register_interval_ms`     all topics
    when topics change                                 those, as soon as the last upload is answered
    every few seconds in between                       the version, to learn whether it is known
    at the end                                         UNREGISTER_BROKER

A name server forgets a broker when the connection closes, and all of them when it restarts. So an
upload counts until a request is not answered, or the answer shows that the broker is not known;
then all topics are uploaded again, soon, and with growing intervals while there is no answer.

A request that makes a topic is answered when name servers have been told (`when_told`): a client
that asks them for its route then finds it, as with Apache's broker. A name server that hangs is not
waited for.

There is one request at a time for each name server: changes meanwhile go together into the next
upload. Apache's name server accepts a change only under a version that it has not seen, so no two
changes may have the same one.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from enum import Enum
from typing import NamedTuple, Protocol, TypeAlias

from aerobee.model.flags import Permission
from aerobee.model.queue_mapping import MappingInfo
from aerobee.model.topic import DataVersion, TopicConfig
from aerobee.ports.clock import Now
from aerobee.ports.service import Dial, Effects
from aerobee.protocol.bodies.queue_mapping import info_json
from aerobee.protocol.bodies.register_broker import (
    RegisterBroker,
    body_crc,
    encode_compressed_register_broker,
    encode_register_broker,
)
from aerobee.protocol.bodies.topic_config import encode_data_version
from aerobee.protocol.headers.registration import BrokerPlaceHeader, RegisterBrokerHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.live_config import LiveConfig

_log = logging.getLogger(__name__)

PLAIN_BYTES_MAX = 6 << 20
"""Some 30,000 topics. More are sent in the shorter form, of which 100,000 fit in a frame."""
PROBE_INTERVAL_MS = 5_000
"""The longest time for which a restarted name server does not know the broker. With
enableSlaveActingMaster, probes are heartbeats, every `brokerHeartbeatInterval`."""
PROBE_TIMEOUT_MS = 3_000
GOODBYE_TIMEOUT_MS = 1_000
TOLD_MS_MAX = 2_000
"""Limit of the wait for name servers in `when_told`. Java's clients wait 3 s for an answer."""
MASTER_RETRY_MS = 1_000
"""Between two looks of a slave for a master that no name server knows."""
RETRY_MS_MIN = 500
RETRY_MS_MAX = 10_000
_READ_AND_WRITE = int(Permission.READ | Permission.WRITE)


HearOfMaster: TypeAlias = Callable[[str, str, Now], None]
"""Called with the addresses of this broker's master for clients and for HA; both may be empty."""


class TopicTable(Protocol):
    """The topics of a broker, as registration needs them."""

    @property
    def version(self) -> DataVersion: ...

    def find(self, name: str) -> TopicConfig | None: ...

    def all(self) -> list[TopicConfig]: ...

    def take_changed(self) -> list[str]:
        """Names of topics that changed since the last call."""


Mappings: TypeAlias = Callable[[], Iterable[MappingInfo]]
"""The queues of static topics that this broker leads."""


class _Kind(Enum):
    ALL = "all topics"
    SOME = "the topics that changed"
    PROBE = "a question whether it knows the topics"
    GOODBYE = "goodbye"


class _Ticket(NamedTuple):
    teller: "_Teller"
    kind: _Kind


class _Upload(NamedTuple):
    version: DataVersion
    body: bytes
    is_compressed: bool = False


class _Teller:
    """The state of one name server's registration. T1. At most one request is under way."""

    __slots__ = ("address", "all_due_ms", "changed", "heard", "is_asking", "is_known",
                 "probe_due_ms", "retry_ms", "told", "uploads", "was_tried")  # fmt: skip

    def __init__(self, address: str) -> None:
        self.address = address
        self.is_asking = False
        self.is_known = False  # it has all topics, but those in `changed`
        self.was_tried = False
        self.changed: set[str] = set()
        self.told = DataVersion()
        self.all_due_ms: int | None = None  # None: at once
        self.probe_due_ms = 0
        self.retry_ms = RETRY_MS_MIN
        self.uploads = 0
        self.heard = 0  # the number of answered uploads

    def has_heard(self, uploads: int) -> bool:
        """Whether it has answered so many uploads, or does not know the broker and gets all topics
        later."""
        return not self.is_known or self.heard >= uploads

    def wanted(self, now_ms: int) -> _Kind | None:
        """The request to send next; None: nothing now."""
        if self.is_asking:
            return None
        if self.all_due_ms is None or now_ms >= self.all_due_ms:
            return _Kind.ALL
        if self.is_known and self.changed:
            return _Kind.SOME
        if self.is_known and now_ms >= self.probe_due_ms:
            return _Kind.PROBE
        return None

    def due_ms(self) -> int | None:
        """The time of the next request if nothing changes; None: a request is under way."""
        if self.is_asking:
            return None
        all_due_ms = self.all_due_ms or 0
        return min(all_due_ms, self.probe_due_ms) if self.is_known else all_due_ms


class _Waiting(NamedTuple):
    """A callback that waits until name servers have been told of a change."""

    told: Callable[[], None]
    due_ms: int
    uploads: Sequence[tuple[_Teller, int]]
    """For each name server the number of uploads that it must have answered."""

    def is_over(self, now_ms: int) -> bool:
        return now_ms >= self.due_ms or all(one.has_heard(count) for one, count in self.uploads)


class Registration:
    """Registers this broker. Requests go to the outbox."""

    def __init__(
        self,
        identity: BrokerIdentity,
        config: LiveConfig[BrokerConfig],
        topics: TopicTable,
        addresses: Sequence[str],
        outbox: Effects,
        mappings: Mappings = tuple,
        plain_bytes_max: int = PLAIN_BYTES_MAX,
    ) -> None:
        self._identity = identity
        self._config = config
        self._topics = topics
        self._mappings = mappings
        self._plain_bytes_max = plain_bytes_max
        self._outbox = outbox
        self._tellers = [_Teller(address) for address in dict.fromkeys(addresses)]
        replication = identity.replication
        acts = replication.acts_as_master
        self._probe_ms = replication.broker_heartbeat_ms if acts else PROBE_INTERVAL_MS
        self._silence_ms_max = replication.broker_silence_ms_max if acts else None
        self._permission = config.current.permission
        # Topics are sent with the broker's permission applied, so a change of it is a new version.
        self._permission_changes = 0
        self._all: _Upload | None = None  # the encoded upload of all topics, for one version
        self._is_over = False
        self.is_held = False
        """Whether name servers are told nothing for now."""
        self._asked: list[Callable[[], None]] = []
        self._waiting: list[_Waiting] = []
        self._hear_of_master: HearOfMaster | None = None

    def tell_of_master(self, hear: HearOfMaster) -> None:
        """A slave's: call back with the master's addresses whenever a name server says them. While
        none is known, name servers are asked every MASTER_RETRY_MS."""
        self._hear_of_master = hear

    def look_for_master(self) -> None:
        """Ask the name servers again, at once, where the master is."""
        for teller in self._tellers:
            teller.all_due_ms = None

    def when_told(self, told: Callable[[], None]) -> None:
        """Call back once the name servers that know the broker have been told of all changes so
        far, or after TOLD_MS_MAX. At once, if none knows the broker."""
        if any(teller.is_known for teller in self._tellers):
            self._asked.append(told)
        else:
            told()

    def on_tick(self, now: Now) -> None:
        changed = self._topics.take_changed()
        if self._is_over or self.is_held:
            return
        self._look_at_permission()
        for teller in self._tellers:
            if teller.is_known or teller.is_asking:  # else all topics come next, with these
                teller.changed.update(changed)
            kind = teller.wanted(now.monotonic_ms)
            if kind is not None:
                self._tell(teller, kind, now.monotonic_ms)
        asked, self._asked = self._asked, []
        due_ms = now.monotonic_ms + TOLD_MS_MAX
        uploads = [(one, one.uploads + bool(one.changed)) for one in self._tellers if one.is_known]
        self._waiting += [_Waiting(told, due_ms, uploads) for told in asked]
        self._call_back(now.monotonic_ms)

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        """Handle the answer to a request; tickets of others are ignored."""
        if not isinstance(ticket, _Ticket):
            return
        teller, kind = ticket
        teller.is_asking = False
        if kind is _Kind.GOODBYE:
            return
        # A name server that does not support QUERY_DATA_VERSION has not failed.
        if answer is not None and (answer.code == 0 or kind is _Kind.PROBE):
            self._accepted(teller, kind, answer, now)
        else:
            self._failed(teller, kind, answer, now.monotonic_ms)
        self._call_back(now.monotonic_ms)

    def rest_ms(self, now: Now) -> int:
        """The time until the next request, unless something changes."""
        dues = [due for t in self._tellers if (due := t.due_ms()) is not None]
        dues.extend(waiting.due_ms for waiting in self._waiting)
        return max(0, min(dues) - now.monotonic_ms) if dues else PROBE_INTERVAL_MS

    def strangers(self) -> list[str]:
        """The name servers that do not know the broker now."""
        return [teller.address for teller in self._tellers if not teller.is_known]

    def unregister(self) -> Effects:
        """UNREGISTER_BROKER, to the name servers that know the broker. Nothing is sent after it."""
        if self._is_over:
            return []
        self._is_over = True
        header = write_header(self._place())
        return [
            Dial(
                teller.address,
                RemotingCommand(RequestCode.UNREGISTER_BROKER, ext_fields=dict(header)),
                GOODBYE_TIMEOUT_MS,
                _Ticket(teller, _Kind.GOODBYE),
            )
            for teller in self._tellers
            if teller.is_known
        ]

    def _call_back(self, now_ms: int) -> None:
        """Call the callbacks of changes that name servers have been told of."""
        over: list[_Waiting] = []
        left: list[_Waiting] = []
        for waiting in self._waiting:
            (over if waiting.is_over(now_ms) else left).append(waiting)
        self._waiting = left
        for waiting in over:
            waiting.told()

    # Questions.

    def _tell(self, teller: _Teller, kind: _Kind, now_ms: int) -> None:
        if kind is _Kind.PROBE:
            teller.probe_due_ms = now_ms + self._probe_ms
            self._ask(teller, kind, self._question(teller.told))
            return
        if kind is _Kind.ALL:
            upload = self._all_topics()
            teller.all_due_ms = now_ms + self._config.current.register_interval_ms
        else:
            names = sorted(teller.changed)
            found = [config for name in names if (config := self._topics.find(name))]
            if not found:
                teller.changed.clear()  # deleted: the admin tool tells the name servers
                teller.uploads += 1
                teller.heard = teller.uploads
                return
            upload = self._encoded(found)
        teller.changed.clear()
        teller.told = upload.version
        teller.uploads += 1
        self._ask(teller, kind, self._registration(upload))

    def _ask(self, teller: _Teller, kind: _Kind, command: RemotingCommand) -> None:
        teller.is_asking = True
        timeout_ms = self._config.current.register_timeout_ms
        if kind is _Kind.PROBE:
            timeout_ms = PROBE_TIMEOUT_MS
        self._outbox.append(Dial(teller.address, command, timeout_ms, _Ticket(teller, kind)))

    def _registration(self, upload: _Upload) -> RemotingCommand:
        who = self._identity
        header = RegisterBrokerHeader(
            who.name,
            who.address,
            who.cluster,
            who.broker_id,
            who.ha_address,
            compressed=upload.is_compressed,
            body_crc32=body_crc(upload.body),
            enable_acting_master=who.replication.acts_as_master,
            heartbeat_timeout_millis=self._silence_ms_max,
        )
        return RemotingCommand(
            RequestCode.REGISTER_BROKER, ext_fields=write_header(header), body=upload.body
        )

    def _question(self, version: DataVersion) -> RemotingCommand:
        return RemotingCommand(
            RequestCode.QUERY_DATA_VERSION,
            ext_fields=write_header(self._place()),
            body=encode_data_version(version),
        )

    def _place(self) -> BrokerPlaceHeader:
        who = self._identity
        return BrokerPlaceHeader(who.name, who.address, who.cluster, who.broker_id)

    # Topics.

    def _all_topics(self) -> _Upload:
        """Encoded once for each version: of 10,000 topics that takes some 60 ms."""
        if self._all is None or self._all.version != self._version():
            self._all = self._encoded(self._topics.all())
        return self._all

    def _encoded(self, configs: Iterable[TopicConfig]) -> _Upload:
        version = self._version()
        topics = {config.name: self._shown(config) for config in configs}
        infos = {one.topic: info_json(one) for one in self._mappings() if one.topic in topics}
        upload = RegisterBroker(topics, version, infos)
        plain = encode_register_broker(upload)
        if len(plain) <= self._plain_bytes_max:
            return _Upload(version, plain)
        # The shorter form lacks order and system flags, but the plain one would fit into no frame.
        return _Upload(version, encode_compressed_register_broker(upload), is_compressed=True)

    def _shown(self, config: TopicConfig) -> TopicConfig:
        if self._permission & _READ_AND_WRITE == _READ_AND_WRITE:
            return config
        return replace(config, permission=config.permission & self._permission)

    def _version(self) -> DataVersion:
        version = self._topics.version
        return version._replace(counter=version.counter + self._permission_changes)

    def _look_at_permission(self) -> None:
        permission = self._config.current.permission
        if permission != self._permission:
            self._permission = permission
            self._permission_changes += 1
            for teller in self._tellers:
                teller.all_due_ms = None

    # Answers.

    def _accepted(self, teller: _Teller, kind: _Kind, answer: RemotingCommand, now: Now) -> None:
        """A request was answered. The order configuration in an answer is not used."""
        now_ms = now.monotonic_ms
        teller.was_tried = True
        teller.retry_ms = RETRY_MS_MIN
        teller.probe_due_ms = now_ms + self._probe_ms
        if kind is not _Kind.PROBE:
            teller.heard = teller.uploads
        if kind is _Kind.ALL and not teller.is_known:
            teller.is_known = True
            _log.info("registered with a name server", extra={"address": teller.address})
        if kind is _Kind.PROBE and answer.ext_fields.get("changed") == "true":
            teller.all_due_ms = None
        if kind is _Kind.ALL and self._hear_of_master is not None:
            master = answer.ext_fields.get("masterAddr", "")
            if not master:
                teller.all_due_ms = now_ms + MASTER_RETRY_MS
            self._hear_of_master(master, answer.ext_fields.get("haServerAddr", ""), now)

    def _failed(
        self, teller: _Teller, kind: _Kind, answer: RemotingCommand | None, now_ms: int
    ) -> None:
        if teller.is_known or not teller.was_tried:
            why = "it does not answer" if answer is None else answer.remark or f"code {answer.code}"
            _log.warning(
                "a name server did not take %s: %s",
                kind.value,
                why,
                extra={"address": teller.address},
            )
        teller.was_tried = True
        teller.is_known = False
        teller.changed.clear()
        if kind is _Kind.SOME and answer is not None:
            teller.all_due_ms = None  # it answers, but has forgotten us: all topics, at once
            return
        teller.all_due_ms = now_ms + teller.retry_ms
        teller.retry_ms = min(teller.retry_ms * 2, RETRY_MS_MAX)
