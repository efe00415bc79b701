"""A gateway in front of real brokers and a real name server, on a pretended world.

kit = GatewayKit(typed("orders", "NORMAL"))    one broker with this topic; `brokers=` for more
kit.call("SendMessage", request)               as `tests.grpc_kit` has it
kit.brokers["broker-a"]                        a `tests.broker_kit.BrokerKit`
kit.silent.add(address)                        this server does not answer any more
kit.twist = function                           what a server answers, before the gateway has it
"""

from collections.abc import Callable
from typing import Any

from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.ports.service import AnswerAsked, ChannelId, Dial, Effects, Peer
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.access.config import OPEN, AccessConfig
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.gateway.callers import NO_GUARD, GuardConfig
from aerobee.service.gateway.config import GatewayConfig
from aerobee.service.gateway.gateway import Gateway
from aerobee.service.gateway.gateway_assembly import GatewayIdentity
from aerobee.sim.clock import SimClock
from tests.access_kit import ask_as
from tests.broker_kit import BrokerKit, create_fields
from tests.grpc_kit import CallKit
from tests.nameserver_kit import BROKER, NameServerKit

NAME_SERVER = "ns:9876"
ADDRESS = Peer("10.0.0.5", 8081)
_FROM_GATEWAY = ChannelId(77)


class GatewayKit(CallKit):
    def __init__(
        self,
        *topics: TopicConfig,
        brokers: tuple[str, ...] = ("broker-a",),
        config: GatewayConfig | None = None,
        guard: GuardConfig = NO_GUARD,
        broker_access: AccessConfig = OPEN,
        broker_config: BrokerConfig | None = None,
    ) -> None:
        super().__init__()
        self.clock = SimClock()
        self.nameserver = NameServerKit()
        self.silent: set[str] = set()
        self.twist: Callable[[str, RemotingCommand], RemotingCommand] = lambda _, answer: answer
        self.asked: list[tuple[str, int]] = []
        """The addresses and codes of all requests."""
        self._waiting: dict[tuple[str, int], object] = {}
        self._opaque = 0
        self.brokers: dict[str, BrokerKit] = {}
        self.addresses: dict[str, str] = {}
        for number, name in enumerate(brokers):
            address = self.addresses[name] = f"10.0.1.{number}:10911"
            identity = BrokerIdentity(name=name, address=address, access=broker_access)
            broker = BrokerKit(
                *(() if broker_access.authenticates else topics),
                config=broker_config,
                identity=identity,
                addresses=(NAME_SERVER,),
                clock=self.clock,
            )
            for topic in topics if broker_access.authenticates else ():
                assert ask_as(broker, "root", 17, create_fields(topic)).code == 0
            broker.open(_FROM_GATEWAY, Peer("10.0.0.5", 40_077))
            self.brokers[name] = broker
        here = GatewayIdentity("gateway", ADDRESS)
        settings = config or GatewayConfig()

        def make() -> Gateway:
            return Gateway(here, settings, (NAME_SERVER,), self.clock.now(), guard)

        self._make_gateway = make
        self.gateway = self._make_gateway()
        self.finish()

    def start_anew(self) -> None:
        """Start the gateway anew; it has asked for nothing yet."""
        self.gateway = self._make_gateway()

    @property
    def door(self) -> Any:
        return self.gateway.rpc

    def finish(self) -> None:
        """Everything that servers have to do for each other is done; no time passes."""
        for _ in range(20):
            before = len(self.asked), self._opaque
            for name, broker in self.brokers.items():
                broker.finish()
                self._register(broker)
                self._hear(name)
            self.carry_out(self.gateway.on_tick(self.clock.now()))
            if before == (len(self.asked), self._opaque):
                break

    def pass_time(self, ms: int, step_ms: int = 100) -> None:
        for _ in range(0, ms, step_ms):
            self.clock.advance(step_ms)
            self.finish()

    def carry_out(self, effects: Effects) -> None:
        for effect in self.note(effects):
            if isinstance(effect, AnswerAsked):
                broker = self.brokers[self._name_at(effect.address)]
                broker.send_frames(b"".join(encode(effect.command)), _FROM_GATEWAY)
                continue
            assert isinstance(effect, Dial), effect
            self.asked.append((effect.address, effect.command.code))
            self._ask(effect)

    def settle(self, now: Now) -> None:
        """The gateway takes nothing in place."""

    def make_topic(self, topic: TopicConfig) -> None:
        """Make a topic at every broker: the answer waits until name servers know it."""
        for broker in self.brokers.values():
            broker.tell(RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields(topic))
        self.finish()

    def codes(self) -> list[int]:
        """The codes of requests since the last look."""
        asked, self.asked = self.asked, []
        return [code for _, code in asked]

    def break_off(self, name: str) -> None:
        """A broker is gone: it answers nothing any more, nor what it has been asked."""
        address = self.addresses[name]
        self.silent.add(address)
        for key in [key for key in self._waiting if key[0] == address]:
            self._answer(self._waiting.pop(key), None)

    # The network.

    def _ask(self, dial: Dial) -> None:
        if dial.address in self.silent:
            self._answer(dial.ticket, None)
        elif dial.address == NAME_SERVER:
            (answer,) = self.nameserver.send(dial.command)
            self._answer(dial.ticket, self.twist(NAME_SERVER, answer))
        else:
            self._opaque += 1
            dial.command.opaque = self._opaque
            self._waiting[dial.address, self._opaque] = dial.ticket
            broker = self.brokers[self._name_at(dial.address)]
            broker.send_frames(b"".join(encode(dial.command)), _FROM_GATEWAY)

    def _hear(self, name: str) -> None:
        """The gateway hears what a broker has written to it."""
        address = self.addresses[name]
        for command in self.brokers[name].heard(_FROM_GATEWAY):
            if not command.is_response:
                self.carry_out(self.gateway.on_asked(address, command, self.clock.now()))
                continue
            ticket = self._waiting.pop((address, command.opaque), None)
            if ticket is not None:
                self._opaque += 1  # something has happened
                self._answer(ticket, self.twist(address, command))

    def _answer(self, ticket: object, answer: RemotingCommand | None) -> None:
        self.carry_out(self.gateway.on_answer(ticket, answer, self.clock.now()))

    def _register(self, broker: BrokerKit) -> None:
        dialed, broker.dialed = broker.dialed, []
        for dial in dialed:
            answers = self.nameserver.send(dial.command, BROKER)
            said = answers[0] if answers else RemotingCommand(0)
            broker.carry_out(broker.broker.on_answer(dial.ticket, said, self.clock.now()))

    def _name_at(self, address: str) -> str:
        (name,) = [name for name, at in self.addresses.items() if at == address]
        return name


def restart(kit: GatewayKit, name: str) -> None:
    """A broker is stopped and started again: connections to it are new."""
    kit.brokers[name] = kit.brokers[name].restarted()
    kit.brokers[name].open(_FROM_GATEWAY, Peer("10.0.0.5", 40_077))
