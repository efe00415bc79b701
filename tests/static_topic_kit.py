"""Three brokers on a pretended world, with static topics: what one asks of name servers and of the
others is answered, and an administrator's steps are requests that can be interrupted.

brokers = StaticBrokers()
brokers.create(2, "broker-a")                      the admin client's own code makes the topic
brokers.move("broker-b")                           and moves its queues
brokers.send(0, b"body")                           to the broker that leads the logical queue
brokers.ask(code, number, **fields)                any request about a logical queue
brokers.read(0)                                    offsets and bodies, as a consumer reads them
brokers.tick("broker-b", 1_000)                    a second passes for a broker
brokers.kits["broker-b"].killed()                  see `BrokerKit`; `replace` puts it in its place
"""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from aerobee.client.admin.fan_out import Addresses, FanOut, Where
from aerobee.client.admin.static_topics import StaticTopicAdmin
from aerobee.client.connection.remote_call import checked, command_of
from aerobee.errors import RequestTimeout
from aerobee.model.mapping_plan import MappingPlan, StaticTopic
from aerobee.model.queue_mapping import MappingInfo, leading_brokers
from aerobee.model.route import BrokerData, ClusterInfo, QueueData, TopicRoute
from aerobee.ports.service import Dial
from aerobee.protocol.bodies.queue_mapping import info_json, mapping_from
from aerobee.protocol.bodies.topic_route import encode_topic_route
from aerobee.protocol.message.stored_message import decode_records
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse
from aerobee.sim.clock import SimClock
from aerobee.storage.config import StorageConfig
from tests.broker_kit import IDENTITY, OTHER, STORAGE, BrokerKit, pull_fields

TOPIC = "Ledger"
NAMES = ("broker-a", "broker-b", "broker-c")
NAME_SERVER = "ns:1"
T = TypeVar("T")


class StaticBrokers:
    def __init__(self, storage: StorageConfig = STORAGE) -> None:
        self.clock = SimClock()
        self.addresses = {name: f"10.0.0.{at}:10911" for at, name in enumerate(NAMES, 1)}
        self.kits = {
            name: BrokerKit(
                storage=storage,
                identity=replace(IDENTITY, name=name, address=self.addresses[name]),
                clock=self.clock,
                addresses=(NAME_SERVER,),
            )
            for name in NAMES
        }
        self.away: set[str] = set()
        """Brokers that answer nobody."""
        self.forwarded: list[RemotingCommand] = []
        """What brokers asked of each other."""
        self.fan_out = KitFanOut(self)
        self.admin = StaticTopicAdmin(self.fan_out)

    # An administrator.

    def create(self, queues: int, *on: str) -> MappingPlan:
        return run(self.admin.create(TOPIC, queues=queues, on=on or NAMES))

    def move(self, *on: str) -> MappingPlan:
        return run(self.admin.move(TOPIC, on=on))

    def known(self) -> dict[str, StaticTopic]:
        return run(self.admin.mappings(TOPIC))

    # Clients.

    def infos(self) -> list[MappingInfo]:
        """What brokers would tell a name server of the topic, those that are away too."""
        found = []
        for kit in self.kits.values():
            answer = kit.ask(RequestCode.GET_TOPIC_CONFIG, {"topic": TOPIC, "lo": "true"})
            if answer.code == ResponseCode.SUCCESS:
                detail = Members(parse(bytes(answer.body)), "it").object("mappingDetail")
                found.append(mapping_from(detail).info())
        return found

    def leader(self, number: int) -> str:
        return leading_brokers(self.infos())[number]

    def ask(self, code: int, number: int, **fields: object) -> RemotingCommand:
        """A request about a logical queue, to its leader."""
        return self.ask_at(self.leader(number), code, number, fields)

    def ask_at(
        self, name: str, code: int, number: int, fields: Mapping[str, object], body: bytes = b""
    ) -> RemotingCommand:
        """The same, to a broker."""
        texts = {field: str(value) for field, value in fields.items()}
        said = {"topic": TOPIC, "queueId": str(number), **texts}
        return self.to(name, RemotingCommand(code, ext_fields=said, body=body))

    def send(self, number: int, body: bytes, *, on: str = "") -> RemotingCommand:
        fields = {
            "producerGroup": "p",
            "defaultTopic": "TBW102",
            "defaultTopicQueueNums": 4,
            "sysFlag": 0,
            "bornTimestamp": 1,
            "flag": 0,
            "properties": "",
        }
        name = on or self.leader(number)
        return self.ask_at(name, RequestCode.SEND_MESSAGE, number, fields, body)

    def pull(self, number: int, offset: int, **fields: object) -> RemotingCommand:
        said = pull_fields(topic=TOPIC, queueId=number, queueOffset=offset, **fields)
        return self.ask(RequestCode.PULL_MESSAGE, number, **said)

    def read(self, number: int, offset: int = 0) -> list[tuple[int, bytes]]:
        """All messages from an offset on, as a consumer finds them: logical offsets and bodies."""
        found: list[tuple[int, bytes]] = []
        for _ in range(1_000):
            answer = self.pull(number, offset)
            said = answer.ext_fields
            if answer.code == ResponseCode.SUCCESS:
                delta = int(said["offsetDelta"])
                records = decode_records(bytes(answer.body))
                found += [(one.queue_offset + delta, one.body) for one in records]
            elif answer.code != ResponseCode.PULL_RETRY_IMMEDIATELY:
                assert answer.code == ResponseCode.PULL_NOT_FOUND, answer
                assert int(said["nextBeginOffset"]) == offset
                return found
            assert int(said["nextBeginOffset"]) > offset
            offset = int(said["nextBeginOffset"])
        raise AssertionError("a reader does not come to an end")

    # The network.

    def to(self, name: str, command: RemotingCommand) -> RemotingCommand:
        """The answer of a broker, once others have answered what it asks of them."""
        kit = self.kits[name]
        kit.tell(command.code, command.ext_fields, bytes(command.body), channel=OTHER)
        for _ in range(100):
            kit.finish()
            answers = [one for one in kit.heard(OTHER) if one.is_response]
            if answers:
                return answers[0]
            dialed, kit.dialed = kit.dialed, []
            for dial in dialed:
                self._answer(kit, dial)
        raise RequestTimeout(f"{name} does not answer", address=name)

    def tick(self, name: str, ms: int) -> None:
        """Time passes for a broker, and others answer what it asks of them."""
        kit = self.kits[name]
        kit.tick(ms)
        while kit.dialed:
            dialed, kit.dialed = kit.dialed, []
            for dial in dialed:
                self._answer(kit, dial)
        kit.finish()

    def _answer(self, kit: BrokerKit, dial: Dial) -> None:
        answer: RemotingCommand | None = None
        if dial.command.code == RequestCode.GET_ROUTEINFO_BY_TOPIC:
            answer = RemotingCommand(0, body=encode_topic_route(self.route(), is_standard=True))
        elif dial.address == NAME_SERVER:
            answer = RemotingCommand(0)
        else:
            (name,) = [one for one, address in self.addresses.items() if address == dial.address]
            self.forwarded.append(dial.command)
            if self.kits[name] is kit:
                answer = kit.ask(dial.command.code, dial.command.ext_fields)
            elif name not in self.away:
                answer = self.to(name, dial.command)
        kit.carry_out(kit.broker.on_answer(dial.ticket, answer, self.clock.now()))

    def route(self) -> TopicRoute:
        return TopicRoute(
            tuple(QueueData(name, 8, 8, 6, 0) for name in self.kits),
            self.cluster().brokers,
            mappings={info.broker: info_json(info) for info in self.infos()},
        )

    def cluster(self) -> ClusterInfo:
        return ClusterInfo(
            tuple(
                BrokerData(IDENTITY.cluster, name, {0: address})
                for name, address in self.addresses.items()
                if name not in self.away
            )
        )


class KitFanOut(FanOut):
    """The admin client's requests, handed to the brokers of a kit. `before` and `after` are called
    with the broker and the request, and may raise."""

    def __init__(self, brokers: StaticBrokers) -> None:
        self._brokers = brokers
        self.before: Callable[[str, RemotingCommand], None] = lambda name, command: None
        self.after: Callable[[str, RemotingCommand], None] = lambda name, command: None

    def now_ms(self) -> int:
        return self._brokers.clock.now().wall_ms

    async def cluster(self) -> ClusterInfo:
        return self._brokers.cluster()

    async def masters(self, on: Where = None) -> Addresses:
        wanted = self._brokers.addresses if on is None else (on,) if isinstance(on, str) else on
        return {name: name for name in wanted if name not in self._brokers.away}

    async def each(self, addresses: Addresses, ask: Callable[[str], Awaitable[T]]) -> dict[str, T]:
        return {name: await ask(address) for name, address in addresses.items()}

    async def broker(
        self, address: str, code: RequestCode, header: object = None, body: bytes = b""
    ) -> RemotingCommand:
        return await self.command(address, command_of(code, header, body))

    async def command(self, address: str, command: RemotingCommand) -> RemotingCommand:
        self.before(address, command)
        answer = self._brokers.to(address, command)
        self.after(address, command)
        return checked(answer)


def run(asked: Coroutine[Any, Any, T]) -> T:
    """The outcome of a coroutine that waits for nothing."""
    try:
        asked.send(None)
    except StopIteration as end:
        found: T = end.value
        return found
    raise AssertionError("it waits")
