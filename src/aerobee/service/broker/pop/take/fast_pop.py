"""The fast path of pops: answers a consumer that repeats a pop which the general path has checked.

    first time   the general handler checks everything, and its decision is kept as a grant: the
                 header, as a template for the next ones, and the plan
    afterwards   a header that differs from the template in its numbers only matches the grant; the
                 grant is valid while nothing that it was decided by has changed, users and rules
                 included; its signature is checked where that is asked for; messages that are in
                 memory are popped and answered at once (`fast_pop_walk`)

Every other pop takes the general path, and nothing is changed here. Law: a pop that is taken here
is answered, and changes the state, as by the general handler.
"""

import re
from collections.abc import Callable
from typing import TypeAlias

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.consume.pull_answer import matches
from aerobee.protocol.headers.popping import PopHeader
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.number_template import NumberTemplate, template_of
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer
from aerobee.service.access.fast_gate import FastGate
from aerobee.service.broker.fast_path import ALL, GRANTS_MAX, NONE, SOME
from aerobee.service.broker.pop.take.fast_pop_walk import FastPopWalk, PopTarget
from aerobee.service.broker.pop.take.held_pops import LATE_MS_MAX, PopPlan
from aerobee.service.broker.pop.take.queue_order import QueueOrder
from aerobee.service.request import Request

_OUTPUT_BYTES_MAX = 1 << 20  # beyond, the answers of one read are handed out as slices
_HEADER_BYTES_MAX = 2048
_INT32 = range(-(2**31), 2**31)

_BEGINNING = b'{"code":200050,'
_PATTERNS = (re.compile(rb'"bornTime":"?(-?[0-9]+)'), re.compile(rb'"opaque":(-?[0-9]+)'))

Basis: TypeAlias = Callable[[str, str], tuple[object, ...]]
"""(group, topic) → the current inputs of a pop's decision, to compare with earlier ones."""


NoteAnswer: TypeAlias = Callable[[str, str], None]
"""Called with the group and the topic of a pop that was answered here."""


class _Grant:
    """The general handler's decision for pops whose headers match one template."""

    __slots__ = (
        "basis",
        "born_place",
        "checked_at",
        "epoch",
        "opaque_place",
        "poll_ms",
        "target",
        "template",
    )

    def __init__(
        self,
        template: NumberTemplate,
        places: list[int],
        poll_ms: int,
        target: PopTarget,
        basis: tuple[object, ...],
    ) -> None:
        self.template = template
        self.born_place, self.opaque_place = places
        self.poll_ms = poll_ms
        self.target = target
        self.basis = basis
        self.checked_at = -1
        self.epoch = 0


class FastPop:
    """Answers pops by their grants. P1. Between two calls of `recheck` nothing changes that a grant
    was decided by."""

    def __init__(self, pop: FastPopWalk, basis: Basis, note_answer: NoteAnswer) -> None:
        self._pop = pop
        self._note_answer = note_answer
        self._basis = basis
        self._grants: dict[ChannelId, list[_Grant]] = {}
        # The header of a pop that takes the general path now.
        self._candidate: tuple[ChannelId, bytes] | None = None
        self._candidate_epoch = 0
        self._gate: FastGate | None = None
        self._checks = 0
        # Pops, since the start.
        self.answered = 0

    def guard(self, gate: FastGate) -> None:
        """From now on take requests of users whom the gate knows, and no others."""
        self._gate = gate

    def recheck(self) -> None:
        """Something was done that may change the inputs of a decision: check grants before use."""
        self._checks += 1

    def take_all(
        self, channel: ChannelId, frames: FrameReader, output: ReplyBuffer, now: Now
    ) -> int:
        """Answer the current frame and those after it. Returns ALL if no frame is left; NONE or
        SOME: the current frame is not a pop for this path."""
        taken = NONE
        while self._take(channel, frames, output, now):
            if not frames.advance():
                return ALL
            taken = SOME
        return taken

    def _take(self, channel: ChannelId, frames: FrameReader, output: ReplyBuffer, now: Now) -> bool:
        grants = self._grants.get(channel, ())
        for grant in grants:
            if matches(grant.template, frames):
                if self._holds(grant):
                    # What the general path decides now is not about an earlier header.
                    self._candidate = None
                    return self._is_admitted(frames) and self._serve(grant, output, now)
                self._grants[channel].remove(grant)
                break
        header = frames.header()
        is_pop = header.startswith(_BEGINNING) and len(header) <= _HEADER_BYTES_MAX
        self._candidate = (channel, header) if is_pop else None
        self._candidate_epoch = 0 if self._gate is None else self._gate.epoch
        return False

    def _is_admitted(self, frames: FrameReader) -> bool:
        return self._gate is None or self._gate.admits(frames)

    def learn(self, request: Request, header: PopHeader, plan: PopPlan, order: QueueOrder) -> None:
        """Make a grant: the general handler decided to run a pop by this plan."""
        channel = request.channel
        if self._candidate is None or self._candidate[0] != channel or request.command.is_oneway:
            return
        text = self._candidate[1]
        self._candidate = None
        found = template_of(text, _PATTERNS)
        if found is None or plan.is_orderly or found[2][0] != header.born_time:
            return
        target = PopTarget(plan, order)
        basis = self._basis(plan.group, plan.topic)
        grant = _Grant(found[0], found[1], header.poll_time, target, basis)
        grant.epoch = self._candidate_epoch
        self._grants.setdefault(channel, []).insert(0, grant)
        del self._grants[channel][GRANTS_MAX:]

    def drop_channel(self, channel: ChannelId) -> None:
        self._grants.pop(channel, None)

    def _holds(self, grant: _Grant) -> bool:
        if grant.checked_at == self._checks:
            return True
        plan = grant.target.plan
        if self._basis(plan.group, plan.topic) != grant.basis:
            return False
        if self._gate is not None and self._gate.epoch != grant.epoch:
            return False
        grant.checked_at = self._checks
        return True

    def _serve(self, grant: _Grant, output: ReplyBuffer, now: Now) -> bool:
        template = grant.template
        opaque = template.number(grant.opaque_place)
        born_ms = template.number(grant.born_place) or now.wall_ms
        is_late = born_ms + grant.poll_ms - now.wall_ms < -LATE_MS_MAX and grant.poll_ms > 0
        if is_late or opaque not in _INT32 or output.position > _OUTPUT_BYTES_MAX:
            return False
        if not self._pop.run(grant.target, opaque, output, now):
            return False
        if self._gate is not None:
            self._gate.took()
        self.answered += 1
        plan = grant.target.plan
        self._note_answer(plan.group, plan.topic)
        return True
