"""A producer of transactions: begins them, ends some at once, some only when it is asked, and some
never; and never says two different things of one.

What is to become of a transaction is decided when it begins and is the same for all its tries.
Whatever it says may get lost, or come late: then it is asked.
"""

from aerobee.model.flags import TransactionType
from aerobee.model.message_id import parse_offset_message_id
from aerobee.model.names import TRANSACTION_HALF_TOPIC
from aerobee.protocol.bodies.heartbeat import Heartbeat, encode_heartbeat
from aerobee.protocol.headers.transactions import CheckTransactionHeader, EndTransactionHeader
from aerobee.protocol.message.stored_message import decode_record
from aerobee.protocol.remoting.declared_header import read_header, write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import SendOutcome
from tests.sim.history import NAME_END, Attempt, Ending, Place, name_of
from tests.sim.producer import (
    SEND_MS_MAX,
    TRIES_MAX,
    Load,
    Producer,
    Target,
    outcome_of_send,
    send_fields,
)

BEAT_MS = 600
LATE_MS_MAX = 400

_TYPES = {Ending.COMMIT: TransactionType.COMMIT, Ending.ROLLBACK: TransactionType.ROLLBACK}


class Trader(Producer):
    def __init__(self, *args: object, load: Load) -> None:
        self._addresses: dict[str, str] = {}
        super().__init__(*args, load=load)
        self.spawn(self._beat())

    @property
    def group(self) -> str:
        return f"{self.name}-group"

    async def _beat(self) -> None:
        """Every broker knows whom to ask."""
        body = encode_heartbeat(Heartbeat(self.name, (self.group,), ()))
        while True:
            for topic in self._load.topics:
                for target in await self._look_up(topic):
                    self._addresses[target.broker] = target.address
            for address in sorted(set(self._addresses.values())):
                await self.ask(address, RemotingCommand(RequestCode.HEART_BEAT, body=body))
            await self.pause(BEAT_MS)

    async def _produce(self) -> None:
        while self._count < self._load.messages:
            self._count += 1
            count = self._count
            await self.pause(self.random.randint(0, 2 * self._load.pause_ms * self._load.at_once))
            ending = self.random.choice(
                (Ending.COMMIT, Ending.COMMIT, Ending.ROLLBACK, Ending.NEVER)
            )
            await self._begin(count, self.random.choice(self._load.topics), ending)
        self._lanes_left -= 1

    async def _begin(self, count: int, topic: str, ending: Ending) -> None:
        """One transaction, in as many tries as it takes."""
        avoided = ""
        for number_of_try in range(TRIES_MAX):
            target = await self._target(topic, avoided)
            if target is None:
                await self.pause(100)
                continue
            name = f"{self.name}-{count}.0/{number_of_try}".encode()
            body = name + NAME_END + b"x" * self._filler_bytes()
            place = Place(target.broker, TRANSACTION_HALF_TOPIC, 0)
            attempt = self.history.begin(name, place, body)
            attempt.ending = ending
            answer = await self.ask(target.address, self._half(topic, target, attempt), SEND_MS_MAX)
            outcome = outcome_of_send(answer)
            is_there = answer is not None and outcome is SendOutcome.ACKED
            offset = int(answer.ext_fields["queueOffset"]) if answer and is_there else None
            self.history.end([attempt], outcome, offset)
            if answer is not None and offset is not None:
                place_in_log = parse_offset_message_id(answer.ext_fields["msgId"]).log_offset
                await self._end(target.address, attempt, (offset, place_in_log), is_asked=False)
                return
            avoided = target.broker
            self._targets.pop(topic, None)

    def _half(self, topic: str, target: Target, attempt: Attempt) -> RemotingCommand:
        properties = {
            "TRAN_MSG": "true",
            "PGROUP": self.group,
            "UNIQ_KEY": attempt.name.decode(),
            "TAGS": f"t{len(attempt.body) % 2}",
        }
        fields = send_fields(self.group, topic, target, properties, sys_flag=4)
        return RemotingCommand(RequestCode.SEND_MESSAGE_V2, ext_fields=fields, body=attempt.body)

    # Ends.

    async def _end(
        self, address: str, attempt: Attempt, place: tuple[int, int], *, is_asked: bool
    ) -> None:
        await self.pause(self.random.randint(0, LATE_MS_MAX))
        ending = attempt.ending
        if ending not in _TYPES or self.random.random() < (0.1 if is_asked else 0.4):
            return
        header = EndTransactionHeader(
            self.group, *place, _TYPES[ending], from_transaction_check=is_asked
        )
        command = RemotingCommand(RequestCode.END_TRANSACTION, ext_fields=write_header(header))
        if self.random.random() < 0.5:
            self.tell(address, command)
        else:
            await self.ask(address, command)

    def on_request(self, command: RemotingCommand) -> None:
        if command.code != RequestCode.CHECK_TRANSACTION_STATE:
            return
        header = read_header(CheckTransactionHeader, command.ext_fields)
        message = decode_record(bytes(command.body))
        attempt = self.history.attempts.get(name_of(message.body))
        if attempt is None or attempt.body != message.body or not attempt.ending:
            self.history.breach("invented", f"{name_of(message.body)!r} was asked about")
            return
        address = self._addresses[header.broker_name]
        place = (header.tran_state_table_offset, header.commit_log_offset)
        self.spawn(self._end(address, attempt, place, is_asked=True))
