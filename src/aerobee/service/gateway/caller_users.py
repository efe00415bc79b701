"""CallerUsers: the users and rules by which a proxy process checks its callers, copied from a
broker of its cluster as slaves copy them.

    every LOOK_MS     has the table of this checksum changed?     the table, if it has

The process asks as its own user; without one, or while its brokers keep no users, it has those that
its settings name. All brokers of a cluster are taken to have the same users: the first by address
that answers is believed. While none does, the last table holds on; before the first one, calls wait
for it.

Imports more than 15 modules because settings, brokers and calls that wait meet here.
"""

import logging
from collections.abc import Sequence

from aerobee.errors import AerobeeError
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.headers.replicating import NO_CRC
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.access.access_store import seeded
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.accounts import Accounts
from aerobee.service.access.config import AccessConfig
from aerobee.service.access.table_text import transfer_key
from aerobee.service.access_questions import CopiedAccess, any_table
from aerobee.service.gateway.broker_requests import BrokerRequests
from aerobee.service.gateway.registrations import FindCluster
from aerobee.service.proxy.desk import Learner, Learnt, Names
from aerobee.service.proxy.outcomes import CallRefused
from aerobee.service.question import Question, QuestionRefused
from aerobee.service.request import Answer, InnerRequest

_log = logging.getLogger(__name__)

LOOK_MS = 500
WAITING_MAX = 10_000
_SERVICE = ChannelId(0)
_UNKNOWN = CallRefused(GrpcCode.PROXY_TIMEOUT, "no broker has told the proxy its users yet")
_SILENT = (ResponseCode.RPC_TIME_OUT, ResponseCode.SYSTEM_BUSY)


class CallerUsers:
    """A `service.proxy.desk.Learner`: users first, then what the next one knows."""

    def __init__(
        self,
        access: AccessConfig,
        requests: BrokerRequests,
        find_cluster: FindCluster,
        then: Learner,
    ) -> None:
        self._access = access
        self._requests = requests
        self._find_cluster = find_cluster
        self._next = then
        inner = access.inner if access.authenticates else None
        self._key = None if inner is None else transfer_key(inner)
        self.accounts = Accounts(seeded(AccessTable(), access))
        self.is_known = self._key is None
        """Whether callers can be told apart."""
        self._waiting: list[tuple[Names, Learnt]] = []
        self._now = Now(0, 0)
        self._due_ms: int | None = None if self._key is None else 0
        self._crc = NO_CRC
        self._address = ""
        self._turn = 0
        self._failure = ""

    def learn(self, names: Names, now: Now, then: Learnt) -> bool:
        if self.is_known:
            return self._next.learn(names, now, then)
        if len(self._waiting) >= WAITING_MAX:
            then(CallRefused(GrpcCode.TOO_MANY_REQUESTS, "too many calls wait for users"), now)
        else:
            self._waiting.append((names, then))
        return False

    def check_known(self) -> None:
        """CallRefused: it is not known who has which rights."""
        if not self.is_known:
            raise _UNKNOWN

    # Time.

    def on_tick(self, now: Now) -> None:
        self._now = now
        if self._due_ms is not None and now.monotonic_ms >= self._due_ms:
            self._due_ms = None
            self._find_cluster(now, self._ask)

    def rest_ms(self, now: Now) -> int | None:
        return None if self._due_ms is None else max(0, self._due_ms - now.monotonic_ms)

    # The copy: one question is under way, or it is due.

    def _ask(self, addresses: Sequence[str]) -> None:
        if not addresses or self._key is None:
            self._failed("no broker of the cluster is known")
            return
        address = addresses[self._turn % len(addresses)]
        if address != self._address:
            self._address, self._crc = address, NO_CRC
        self._go_on(any_table(self._key, self._crc), None)

    def _go_on(self, question: Question[CopiedAccess | None], answer: Answer | None) -> None:
        try:
            command = next(question) if answer is None else question.send(_as_command(answer))
        except StopIteration as over:
            self._take(over.value)
        except QuestionRefused as refused:
            if refused.code in _SILENT:
                self._failed(refused.message)
            else:
                self._warn(refused.message)
                self._learnt()  # it keeps no users, or tells them to nobody
        except AerobeeError as error:
            self._failed(str(error))
        else:
            request = InnerRequest(
                _SERVICE, command, self._now, lambda answer: self._go_on(question, answer)
            )
            self._requests.send(self._address, request)

    def _take(self, copied: CopiedAccess | None) -> None:
        self._failure = ""
        if copied is not None:
            self._crc = copied.crc
            self.accounts.replace(seeded(copied.table, self._access))
        self._learnt()

    def _learnt(self) -> None:
        self.is_known = True
        self._end(None)

    def _failed(self, why: str) -> None:
        self._turn += 1
        self._warn(why)
        self._end(_UNKNOWN)

    def _warn(self, why: str) -> None:
        if why != self._failure:
            self._failure = why
            text = "users of callers cannot be copied now: %s"
            _log.warning(text, why, extra={"address": self._address})

    def _end(self, refusal: CallRefused | None) -> None:
        self._due_ms = self._now.monotonic_ms + LOOK_MS
        waiting, self._waiting = self._waiting, []
        for names, then in waiting:
            if refusal is not None or self._next.learn(names, self._now, then):
                then(refusal, self._now)


def _as_command(answer: Answer) -> RemotingCommand:
    fields = dict(answer.fields or {})
    return RemotingCommand(answer.code, remark=answer.remark, ext_fields=fields, body=answer.body)
