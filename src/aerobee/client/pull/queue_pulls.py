"""`QueuePulls` sends the pull requests of one queue and reads their answers.

A broker holds a pull that finds nothing until a message comes, for `poll_seconds` at most; its
answer may name another broker id (a slave) for the next pull. The group's offset goes along with
each pull to a master, so that separate commits are rare.

While the master is in no route, or does not answer, a slave is pulled from. A master that did not
answer is tried again after a while by a pull that it need not hold, so that a hanging one costs one
short timeout each time. A slave may have less than its master: that it lacks an offset moves
nobody, the pull is tried again until a slave has it or the master is back.
"""

from dataclasses import dataclass
from enum import Enum

from aerobee.client.connection.remote_call import Answer, ask, checked
from aerobee.client.connection.session import Session
from aerobee.client.group.group_requests import GroupRequests
from aerobee.errors import NoAnswer, Refused, RemoteProtocolError, Retriable
from aerobee.model.message_queue import MessageQueue
from aerobee.model.queue_mapping import is_logical_broker
from aerobee.model.route import MASTER_ID
from aerobee.model.subscription import Subscription
from aerobee.protocol.headers.pulling import (
    COMMIT_OFFSET,
    SUBSCRIPTION,
    SUSPEND,
    PullAnswerHeader,
    PullHeader,
)
from aerobee.protocol.remoting.declared_header import read_header, write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode

ANSWER_SECONDS = 15.0
"""How long an answer may take beyond the time that the broker may hold a pull."""
_WITHOUT_SUBSCRIPTION = (
    ResponseCode.SUBSCRIPTION_NOT_EXIST,
    ResponseCode.SUBSCRIPTION_NOT_LATEST,
    ResponseCode.FILTER_DATA_NOT_EXIST,
    ResponseCode.FILTER_DATA_NOT_LATEST,
)


class PullOutcome(Enum):
    FOUND = "messages"
    NOTHING = "nothing, or nothing that is wanted"
    MOVED = "there is no such offset"


@dataclass(frozen=True, slots=True)
class Pulled:
    outcome: PullOutcome
    next_offset: int
    records: bytes = b""
    offset_delta: int = 0
    """Of a static topic: what is added to the offsets of the records."""


class QueuePulls:
    """The pulls of one queue by one group."""

    def __init__(
        self,
        session: Session,
        calls: GroupRequests,
        queue: MessageQueue,
        subscription: Subscription,
        *,
        count: int,
        poll_seconds: float,
        brings_filter: bool = False,
    ) -> None:
        """`brings_filter`: each pull carries the filter; otherwise the group's heartbeats do."""
        self.queue = queue
        self._session = session
        self._calls = calls
        self._timeout = poll_seconds + ANSWER_SECONDS
        self._broker_id = MASTER_ID
        # Apache's broker stores an offset that comes with a pull of a logical queue untranslated:
        # the group would go on far behind it.
        self._commits = not is_logical_broker(queue.broker_name)
        self._flag = SUSPEND | SUBSCRIPTION if brings_filter else SUSPEND
        self._fields = write_header(
            PullHeader(
                calls.group,
                queue.topic,
                queue.queue_id,
                0,
                count,
                suspend_timeout_millis=int(poll_seconds * 1000),
                subscription=subscription.expression if brings_filter else "",
                sub_version=subscription.version,
                expression_type=subscription.expression_type,
            )
        )

    async def pull(self, offset: int, commit: int | None) -> Pulled:
        """Messages from an offset on. `commit`: the group's offset, if the broker is to store it.
        An error that is not NoAnswer is the broker's.
        """
        queue, silent = self.queue, self._session.silent
        address = await self._calls.address_of(queue, self._broker_id, is_reading=True)
        is_committing = (
            commit is not None and commit > 0 and self._commits and self._is_master(address)
        )
        flag, seconds = self._flag, self._timeout
        if silent and silent.is_on_trial(address):
            flag, seconds = flag & ~SUSPEND, self._session.options.timeout
        fields = self._fields
        fields["queueOffset"] = str(offset)
        fields["sysFlag"] = str(flag | COMMIT_OFFSET if is_committing else flag)
        fields["commitOffset"] = str(commit if is_committing else 0)
        try:
            answer = await ask(
                self._session, address, RequestCode.PULL_MESSAGE, fields, seconds=seconds
            )
        except NoAnswer:
            silent.note(address, self._session.clock.monotonic_ms())
            raise
        if silent:
            silent.answered(address)
        code = answer.code
        if code == ResponseCode.SUCCESS:
            return self._found(answer)
        if code in _OUTCOMES:
            header = read_header(PullAnswerHeader, answer.ext_fields)
            self._broker_id = header.suggest_which_broker_id
            if not self._is_master(address) and _is_lacking(code, header, offset):
                silent.note(address, self._session.clock.monotonic_ms())
                raise Retriable(f"the slave {address} does not have {queue} at {offset}", code=code)
            return Pulled(_OUTCOMES[code], header.next_begin_offset)
        if code == ResponseCode.NOT_LEADER_FOR_QUEUE:
            await self.start_over()
        elif code in _WITHOUT_SUBSCRIPTION:
            await self._session.members.beat()
        elif not self._is_master(address):  # a slave that does not let anybody read
            silent.note(address, self._session.clock.monotonic_ms())
        checked(answer)
        raise Refused(f"a pull of {queue} was answered with {code}: {answer.remark}", code=code)

    def _is_master(self, address: str) -> bool:
        route = self._session.routes.find(self.queue.topic)
        return route is not None and route.master_of(self.queue) == address

    def _found(self, answer: Answer) -> Pulled:
        said = answer.ext_fields
        try:  # not by a declared header: this is done thousands of times a second
            self._broker_id = int(said["suggestWhichBrokerId"])
            delta = int(said["offsetDelta"]) if "offsetDelta" in said else 0
            next_offset = int(said["nextBeginOffset"])
            return Pulled(PullOutcome.FOUND, next_offset, bytes(answer.body), delta)
        except (KeyError, ValueError):
            raise RemoteProtocolError(f"an answer to a pull of {self.queue} says {said}") from None

    async def start_over(self) -> None:
        """Pull from the master again after a failure, at its present address."""
        self._broker_id = MASTER_ID
        await self._session.routes.refresh(self.queue.topic)


def _is_lacking(code: int, header: PullAnswerHeader, offset: int) -> bool:
    """Whether a slave's answer shows that it lacks an offset: RocketMQ's slaves answer so with the
    same offset again, which would be pulled for ever without a pause."""
    if code == ResponseCode.PULL_OFFSET_MOVED:
        return True
    return code == ResponseCode.PULL_RETRY_IMMEDIATELY and header.next_begin_offset <= offset


_OUTCOMES: dict[int, PullOutcome] = {
    ResponseCode.PULL_NOT_FOUND: PullOutcome.NOTHING,
    ResponseCode.PULL_RETRY_IMMEDIATELY: PullOutcome.NOTHING,
    ResponseCode.PULL_OFFSET_MOVED: PullOutcome.MOVED,
}
