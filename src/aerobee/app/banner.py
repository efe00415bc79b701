"""The banner of `aerobee up`, printed once it is ready: addresses, and commands to try.

Every line is at most 80 columns wide, except lines with a long path. The Python code in it is not
indented, so that it can be pasted; commands name the programs as this shell finds them.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from aerobee.app.data_folder import DataFolder, shown_path
from aerobee.app.ink import Ink, ink_for
from aerobee.app.process import process_figures
from aerobee.app.process.holdings import Holdings, together
from aerobee.app.process.lifecycle import Ended
from aerobee.app.process.nameserver_process import NameServerPart
from aerobee.app.process.process_figures import MIB, Memory
from aerobee.model.broker_role import MASTER_ID, BrokerRole
from aerobee.net.listener import outward_address
from aerobee.net.tls_config import TlsMode
from aerobee.ports.service import Peer
from aerobee.replication.config import ReplicationConfig

USUAL = "127.0.0.1:9876"
"""Where commands look for a name server if none is said."""
NAME_SERVER_VARIABLE = "AEROBEE_NAME_SERVER"
TRIES = (
    'message send hello "second message"',
    "message tail hello --from earliest --count 2",
    "explain group readers",
    "bench produce --duration 5s",
    "up --demo",
)
"""What to do next, as words of the command."""
REPLICA_TRIES = ("broker replicas", "broker replicas --watch")
"""The same, where there are slaves."""
_SNIPPET = """\
import aerobee
with aerobee.connect_sync("{nameserver}") as client:
    client.send("hello", "first message", tag="greeting", keys=["h-1"])
    print(client.receive("hello", group="readers").body.decode())
"""


@dataclass(frozen=True, slots=True)
class Programs:
    """The names or paths by which this shell finds the programs."""

    aerobee: str = "aerobee"
    python: str = "python"


class BrokerPlace(NamedTuple):
    """One broker, and its address."""

    name: str
    address: str
    broker_id: int = MASTER_ID
    replication: ReplicationConfig = ReplicationConfig()


class Kept(NamedTuple):
    """The numbers of stores in the folder, whether or not their brokers were started."""

    masters: int = 0
    slaves: int = 0
    """Of one master."""


NOTHING_KEPT = Kept()


@dataclass(frozen=True, slots=True)
class BannerFacts:
    """The facts that the banner shows."""

    nameserver: str
    brokers: Sequence[BrokerPlace]
    metrics: Iterable[str]
    folder: DataFolder
    held: Holdings
    """What was there at the start."""
    kept: Kept = NOTHING_KEPT
    memory: Memory | None = None
    seconds: float | None = None
    """How long the start took."""
    programs: Programs = field(default_factory=Programs)
    tls: TlsMode = TlsMode.DISABLED
    asks: bool = False
    """Whether users are asked who they are."""
    console: str = ""
    """Its address, or why there is none; empty: none was wanted."""


class ShownBroker(Protocol):
    """A broker of this process, or of one that it has started."""

    @property
    def name(self) -> str: ...

    @property
    def broker_id(self) -> int: ...

    @property
    def replication(self) -> ReplicationConfig: ...

    @property
    def address(self) -> str: ...

    @property
    def metrics_address(self) -> str:
        """Where its pages are; empty: nowhere."""

    def holdings(self) -> Holdings: ...


class Banner:
    """Prints the banner, as a guest of the process."""

    def __init__(
        self,
        nameserver: NameServerPart,
        brokers: Iterable[ShownBroker],
        folder: DataFolder,
        kept: Kept,
        console: Callable[[], str] = lambda: "",
    ) -> None:
        self._nameserver = nameserver
        self._brokers = list(brokers)
        self._folder = folder
        self._kept = kept
        self._console = console

    async def start(self, failed: Ended) -> str:
        masters = [one for one in self._brokers if one.broker_id == MASTER_ID]
        pages = (broker.metrics_address for broker in self._brokers)
        facts = BannerFacts(
            reachable(self._nameserver.address),
            [_place(broker) for broker in self._brokers],
            [reachable(address) for address in pages if address],
            self._folder,
            together(broker.holdings() for broker in masters),
            self._kept,
            process_figures.memory(),
            process_figures.age_seconds(),
            programs_here(),
            self._nameserver.tls_mode,
            self._nameserver.asks,
            self._console(),
        )
        return banner(facts, ink_for(sys.stdout, os.environ))

    async def stop(self) -> None:
        """Do nothing: the banner is printed once, at the start."""


def banner(facts: BannerFacts, ink: Ink) -> str:
    programs = facts.programs
    words = (*REPLICA_TRIES, *TRIES) if _slaves(facts.brokers) else TRIES
    tries = [f"{programs.aerobee} {one}" for one in words]
    if facts.nameserver != USUAL:
        tries.insert(0, f"export {NAME_SERVER_VARIABLE}={facts.nameserver}")
    lines = [
        "",
        f"{ink.bold('Aerobee is up')}{_cost(facts)}. Ctrl-C stops it.",
        "",
        *_places(facts, ink),
        "",
        ink.dim(f"Python, as it stands ({programs.python}):"),
        "",
        *_SNIPPET.format(nameserver=facts.nameserver).splitlines(),
        "",
        _row("Java", f'producer.setNamesrvAddr("{facts.nameserver}");', ink),
        _row("", f'consumer.setNamesrvAddr("{facts.nameserver}");', ink),
        _row("mqadmin", f"mqadmin clusterList -n {facts.nameserver}", ink),
        "",
        *(_row("" if at else "next", one, ink) for at, one in enumerate(tries)),
    ]
    return "\n".join(lines) + "\n"


def programs_here(which: Callable[[str], str | None] = shutil.which) -> Programs:
    """Return the plain names if the shell finds these very programs by them, else their paths."""
    folder = os.path.dirname(sys.executable)

    def called(name: str) -> str:
        path = os.path.join(folder, name)
        found = which(name)
        return name if found and os.path.realpath(found) == os.path.realpath(path) else _short(path)

    return Programs(called("aerobee"), called("python"))


def reachable(address: str) -> str:
    """Return the address at which other machines reach a port that listens on all addresses."""
    host, _, port = address.rpartition(":")
    return str(Peer(outward_address(host.strip("[]")), int(port)))


def kept_text(folder: DataFolder, held: Holdings) -> str:
    """Return a line with the folder and its contents so far."""
    if folder.is_temporary:
        return f"{folder.shown}, temporary: removed at the stop"
    if not held.messages:
        return f"{folder.shown}, nothing in it yet"
    messages, topics = _count(held.messages, "message"), _count(len(held.topics), "topic")
    return f"{folder.shown}, goes on with {messages} in {topics}"


def _places(facts: BannerFacts, ink: Ink) -> Iterable[str]:
    yield _row("name server", facts.nameserver, ink)
    yield from _broker_rows(facts.brokers, ink)
    scheme = "http" if facts.tls is TlsMode.DISABLED else "https"
    for at, address in enumerate(facts.metrics):
        yield _row("" if at else "metrics", f"{scheme}://{address}/metrics", ink)
    if facts.console:
        yield _row("console", facts.console, ink)
    yield from _guard_rows(facts, ink)
    yield _row("data", kept_text(facts.folder, facts.held), ink)
    kept = facts.kept
    if kept.masters > len({one.name for one in facts.brokers}):
        count = kept.masters
        yield _row("", f"{count} brokers have messages there; say --brokers {count}", ink)
    if kept.slaves > _slaves(facts.brokers):
        yield _row("", f"slaves have copies there; say --slaves {kept.slaves}", ink)


def _guard_rows(facts: BannerFacts, ink: Ink) -> Iterable[str]:
    if facts.tls is not TlsMode.DISABLED:
        plain = ", plain text, too" if facts.tls is TlsMode.PERMISSIVE else ""
        yield _row("TLS", f"on every port{plain}: rmqs://{facts.nameserver}?ca=FILE", ink)
    if facts.asks:
        yield _row("users", f"sign their requests: rmq://KEY:SECRET@{facts.nameserver}", ink)


def _broker_rows(brokers: Sequence[BrokerPlace], ink: Ink) -> Iterable[str]:
    """Lines of brokers, the master of a name before its slaves; without slaves, no roles."""
    has_slaves = _slaves(brokers) > 0
    shown = ""
    for one in sorted(brokers, key=lambda place: (place.name, place.broker_id)):
        role = f"  {_role(one)}" if has_slaves else ""
        yield _row("" if one.name == shown else one.name, f"{one.address}{role}", ink)
        shown = one.name


def _role(place: BrokerPlace) -> str:
    """RocketMQ's word for a role, with the number that makes a difference."""
    role, copies = place.replication.role, place.replication.in_sync_replicas
    if role is BrokerRole.SLAVE:
        return f"{role.value} {place.broker_id}"
    return f"{role.value}, inSyncReplicas={copies}" if copies > 1 else role.value


def _slaves(brokers: Iterable[BrokerPlace]) -> int:
    """The number of slaves of the master that has most of them."""
    names = [one.name for one in brokers if one.broker_id != MASTER_ID]
    return max(map(names.count, names), default=0)


def _place(broker: ShownBroker) -> BrokerPlace:
    address = reachable(broker.address)
    return BrokerPlace(broker.name, address, broker.broker_id, broker.replication)


def _cost(facts: BannerFacts) -> str:
    said = []
    if facts.seconds is not None:
        said.append(f"{facts.seconds:.1f} s")
    if facts.memory is not None:
        said.append(f"{facts.memory.resident / MIB:.0f} MiB")
    return f": {', '.join(said)}" if said else ""


def _count(count: int, of: str) -> str:
    return f"{count:,} {of}" if count == 1 else f"{count:,} {of}s"


def _row(name: str, text: str, ink: Ink) -> str:
    return f"  {ink.cyan(f'{name:<13}')}{text}"


def _short(path: str) -> str:
    shown = shown_path(path)
    return shown.removeprefix(os.curdir + os.sep) if os.sep in shown.removeprefix("./") else shown
