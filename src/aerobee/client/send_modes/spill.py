"""`Spill` keeps sends in a file while no broker answers, and sends them in order when one does.

    async with client.spill("outbox.sqlite") as spill:
        receipt = await spill.send("orders", b"{}")       # a Receipt, or Spilled

    send ─▶ broker ─▶ Receipt
              └─ no answer ─▶ file ─▶ Spilled ┄┄▶ broker, once it answers, oldest first

S1. While messages wait, a new send waits behind them: the order is that of the sends.
S2. When `send` has returned, the message is stored by a broker or in the file, which survives a
    power cut.
S3. A message is removed from the file after a broker has it: a crash in between sends it twice.

SQLite blocks, so the file has a thread of its own, `aerobee-spill`, for as long as it is open: the
only thread that a client ever has, and only with this option. Sends that come while it writes are
written together.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from functools import partial
from types import TracebackType
from typing import Self, TypeVar, Unpack

from aerobee.client.api.client_options import Duration, seconds_of
from aerobee.client.api.receipt import Receipt
from aerobee.client.connection.session import Session
from aerobee.client.core.send.outgoing import Draft
from aerobee.client.core.send.spill_rules import SpillRules, kept_properties, pause_seconds
from aerobee.client.send.delivery import RETRIES
from aerobee.client.send.drafts import TimedKeywords
from aerobee.client.send.sender import Sender
from aerobee.client.send_modes.spill_file import Kept, SpillFile
from aerobee.errors import AerobeeError, Misuse, SendFailed, Stored
from aerobee.model.properties import decode_properties, encode_properties

_log = logging.getLogger(__name__)

T = TypeVar("T")
ROWS_AT_ONCE = 64


class _Fate(Enum):
    """Result of sending a message from the file."""

    GONE = "sent, or too old"
    WAITS = "nobody answers"
    REFUSED = "no broker wants it"


class Spilled:
    """The receipt of a message that waits in the file."""

    __slots__ = ("_delivered", "message_id")

    def __init__(self, message_id: str, delivered: "asyncio.Future[Receipt]") -> None:
        self.message_id = message_id
        self._delivered = delivered

    async def delivered(self) -> Receipt:
        """The receipt, once a broker has the message. SendFailed: none will take it."""
        return await asyncio.shield(self._delivered)

    def __repr__(self) -> str:
        return f"Spilled({self.message_id})"


class Spill:
    def __init__(self, session: Session, sending: Sender, path: str, rules: SpillRules) -> None:
        self._session = session
        self._sending = sending
        self._path = path
        self.rules = rules
        self._thread: ThreadPoolExecutor | None = None
        self._file: SpillFile | None = None
        self._draining: asyncio.Task[None] | None = None
        self._work = asyncio.Event()
        self._adding: list[tuple[Kept, asyncio.Future[int]]] = []
        self._adder: asyncio.Task[None] | None = None
        self._promised: dict[int, asyncio.Future[Receipt]] = {}
        self.waiting = 0
        """Messages in the file, and on their way into it."""
        self.waiting_bytes = 0
        self.expired = 0
        """Messages that waited too long and were dropped."""
        self.refused = 0
        """Messages that a broker did not want; they stay in the file."""

    async def __aenter__(self) -> Self:
        self._session.check()
        if self._thread is not None:
            raise Misuse("the spill is open already")
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="aerobee-spill")
        try:
            self._file = await self._on_thread(partial(SpillFile, self._path))
        except BaseException:
            self._thread.shutdown()  # its only job is over
            raise
        self.waiting, self.waiting_bytes = await self._on_thread(self._opened().waiting)
        if self.waiting:
            _log.info("%d messages wait in %s from before", self.waiting, self._path)
            self._work.set()
        self._draining = self._session.spawn(self._drain(), f"sending what waits in {self._path}")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._draining is not None:
            self._draining.cancel()
            await asyncio.gather(self._draining, return_exceptions=True)
        if self._adder is not None:
            await asyncio.gather(self._adder, return_exceptions=True)
        await self._on_thread(self._opened().close)
        assert self._thread is not None
        self._thread.shutdown()  # its last job is over
        self._file = None
        for delivered in self._promised.values():
            delivered.cancel()
        if self.waiting:
            _log.warning(
                "%d messages wait in %s until it is opened again", self.waiting, self._path
            )

    async def send(
        self,
        topic: str,
        body: object,
        *,
        timeout: Duration | None = None,
        retries: int = RETRIES,
        group: str | None = None,
        **said: Unpack[TimedKeywords],
    ) -> Receipt | Spilled:
        """Send as `client.send` does; Spilled if no broker answers. SendFailed: the file is full,
        too, or brokers refuse the message.
        """
        self._session.check()
        self._opened()
        draft = self._sending.drafts.draft(topic, body, **said)
        failure = None
        if not self.waiting:
            try:
                sent = await self._sending.delivery.deliver(
                    draft,
                    group=group,
                    timeout=None if timeout is None else seconds_of(timeout, "timeout"),
                    retries=retries,
                )
            except SendFailed as error:
                if not self.rules.takes(error):
                    raise
                failure = error
            else:
                return self._sending.receipt(draft, sent)
        return await self._keep(draft, group, failure)

    async def drained(self) -> None:
        """Wait until no message waits in the file."""
        while self.waiting:
            self._opened()
            promised = list(self._promised.values())
            if promised:
                await asyncio.wait([promised[-1]])
            else:
                await asyncio.sleep(0.02)

    # Into the file.

    async def _keep(self, draft: Draft, group: str | None, failure: SendFailed | None) -> Spilled:
        wall_ms = self._session.clock.now().wall_ms
        text = encode_properties(kept_properties(draft.properties, wall_ms))
        kept = Kept(draft.topic, draft.body, text, draft.sys_flag, draft.order_by, group, wall_ms)
        if self.waiting_bytes + kept.size > self.rules.max_bytes:
            raise SendFailed(
                f"no broker answers, and {self._path} is full: {self.waiting} messages, "
                f"{self.waiting_bytes} bytes wait",
                stored=Stored.NO if failure is None else failure.stored,
                attempts=() if failure is None else failure.attempts,
                hint="raise max_bytes of the spill, or send less until brokers are back",
            ) from failure
        self.waiting += 1
        self.waiting_bytes += kept.size
        added: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._adding.append((kept, added))
        if self._adder is None or self._adder.done():
            self._adder = self._session.spawn(self._add(), f"writing {self._path}")
        number = await asyncio.shield(added)
        return Spilled(draft.unique_id, self._promised[number])

    async def _add(self) -> None:
        """Write new messages, again and again until there are none."""
        file = self._opened()
        while self._adding:
            adding, self._adding = self._adding, []
            messages = [kept for kept, _ in adding]
            try:
                numbers = await asyncio.shield(self._on_thread(partial(file.add, messages)))
            except OSError as error:
                self._not_added(adding, error)
                continue
            loop = asyncio.get_running_loop()
            for (_, added), number in zip(adding, numbers, strict=True):
                self._promised[number] = loop.create_future()
                added.set_result(number)
            self._work.set()

    def _not_added(self, adding: "list[tuple[Kept, asyncio.Future[int]]]", error: OSError) -> None:
        for kept, added in adding:
            self.waiting -= 1
            self.waiting_bytes -= kept.size
            failure = SendFailed(
                f"no broker answers, and the message could not be kept: {error}",
                stored=Stored.NO,
                hint="is the disk full?",
            )
            added.set_exception(failure)

    # Out of the file.

    async def _drain(self) -> None:
        file = self._opened()
        failures = 0
        while True:
            await self._work.wait()
            rows = await self._on_thread(partial(file.first, ROWS_AT_ONCE))
            if not rows:
                self._work.clear()
                continue
            sent: list[int] = []
            try:
                for number, kept in rows:
                    fate = await self._send_kept(number, kept)
                    if fate is _Fate.WAITS:
                        failures += 1
                        break
                    failures = 0
                    if fate is _Fate.GONE:
                        sent.append(number)
            finally:
                await asyncio.shield(self._on_thread(partial(file.remove, sent)))
            if failures:
                await asyncio.sleep(pause_seconds(failures))

    async def _send_kept(self, number: int, kept: Kept) -> _Fate:
        draft = Draft(
            kept.topic,
            kept.body,
            decode_properties(kept.properties),
            sys_flag=kept.sys_flag,
            order_by=kept.order_by,
        )
        if self.rules.is_expired(kept.kept_ms, self._session.clock.now().wall_ms):
            self.expired += 1
            _log.warning("%s has waited too long in %s: dropped", draft.unique_id, self._path)
            self._settled(number, kept, SendFailed("it waited too long", stored=Stored.NO))
            return _Fate.GONE
        try:
            sent = await self._sending.delivery.deliver(draft, group=kept.group)
        except SendFailed as failure:
            if self.rules.takes(failure):
                return _Fate.WAITS
            await self._refused(number, kept, failure)
        except AerobeeError as error:
            await self._refused(number, kept, error)
        else:
            self._settled(number, kept, self._sending.receipt(draft, sent))
            return _Fate.GONE
        return _Fate.REFUSED

    async def _refused(self, number: int, kept: Kept, error: AerobeeError) -> None:
        """Mark a message as refused: it stays for a person to look at, and holds up no other."""
        self.refused += 1
        _log.error("a message that waited in %s was refused: %s", self._path, error)
        await self._on_thread(partial(self._opened().refuse, number, str(error)))
        self._settled(number, kept, error)

    def _settled(self, number: int, kept: Kept, outcome: Receipt | AerobeeError) -> None:
        self.waiting -= 1
        self.waiting_bytes -= kept.size
        delivered = self._promised.pop(number, None)
        if delivered is None or delivered.done():
            return
        if isinstance(outcome, Receipt):
            delivered.set_result(outcome)
        else:
            delivered.set_exception(outcome)
            delivered.exception()  # whoever does not ask need not hear of it

    def _opened(self) -> SpillFile:
        if self._file is None:
            raise Misuse(
                "the spill is not open", hint="use it inside `async with client.spill(...)`"
            )
        return self._file

    async def _on_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)
