"""World: a group of hosts on one heap of events, with clients, an operator and everything that goes
wrong.

Seven tenths of a run are faults; then all of them end, and the group must become one again: every
member with the same log, everything acknowledged in it, new records acknowledged, within ten
election timeouts.
"""

import heapq
from collections import Counter
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from aerobee.raft.frames import Hello, RaftFrameReader, encode_frame
from aerobee.raft.membership import AddLearner, Change, Members, Promote, Remove, voters
from aerobee.raft.messages import Message, Records
from aerobee.raft.node import Node
from aerobee.raft.saved_state import first_state
from tests.raft_sim.disk_log import Chunk
from tests.raft_sim.host import RECORD_BYTES_MAX, Host
from tests.raft_sim.judge import Breach, Judge
from tests.raft_sim.plan import Plan

ACKS_AFTER_HEAL = 3
EVENTS_MAX = 200_000
"""More than any sound run has: of 66,000 seeds four, in which messages overtake one another all the
time, had 64,000 to 89,000."""
TIMEOUTS_AFTER_HEAL = 10


class SeededEntropy:
    """Random numbers of one run."""

    def __init__(self, random: Random) -> None:
        self._draw = random.random

    def below(self, limit: int) -> int:
        return int(self._draw() * limit)


class World:
    """Surroundings of hosts, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self._draw = self.random.random
        self.plan = Plan(self.random)
        self.judge = Judge()
        self.now = 0.0
        self.counts: Counter[str] = Counter()
        self.trace: list[str] | None = None
        self._events: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._sequence = 0
        self._cuts: set[tuple[int, int]] = set()
        self._is_healed = False
        self._arrivals: dict[tuple[int, int], float] = {}
        self._acked_before_heal = 0
        self._slow: dict[int, float] = {}
        entropy = SeededEntropy(self.random)
        plan = self.plan
        first = voters(*range(1, plan.nodes + 1))
        self.hosts: dict[int, Host] = {}
        for number in range(1, plan.nodes + plan.spares + 1):
            saved = first_state(first) if number <= plan.nodes else first_state()
            host = Host(number, saved, plan.config, self)
            host.entropy = entropy
            host.clock_rate = 1.0 + plan.drift * (2.0 * self._draw() - 1.0)
            host.clock_offset = 100_000.0 * self._draw()
            self.hosts[number] = self.judge.hosts[number] = host
        self._numbers = list(self.hosts)

    # The heap.

    def after(self, delay: float, action: Callable[..., None], *arguments: Any) -> None:
        self._sequence += 1
        heapq.heappush(self._events, (self.now + delay, self._sequence, action, arguments))

    def run(self) -> None:
        plan = self.plan
        for host in self.hosts.values():
            host.start()
        self.after(1500 * self._draw(), self._client)
        self.after(1000 + plan.fault_ms * self._draw(), self._fault)
        self.after(1000 + plan.duration_ms, self._heal)
        events = self._events
        limit = float("inf")
        while events:
            if self._sequence > EVENTS_MAX:
                raise Breach("a storm of events")
            self.now, _, action, arguments = heapq.heappop(events)
            if self._is_healed:
                if limit == float("inf"):
                    timeout_ms = plan.config.election_timeout_ms
                    limit = self.now + TIMEOUTS_AFTER_HEAL * timeout_ms
                if self._is_one_again():
                    break
                if self.now > limit:
                    raise Breach(f"no convergence after the heal: {self._standing()}")
            action(*arguments)
        self.counts["events"] = self._sequence
        self.counts["acknowledged"] = len(self.judge.acked)
        self.counts["committed"] = len(self.judge.values)
        self.counts["terms"] = len(self.judge.leaders)
        self.counts["reads"] = self.judge.reads
        self.counts["virtual ms"] = int(self.now)
        lost = self.judge.acked.difference(self.judge.values)
        if lost:
            raise Breach(f"lost: {sorted(lost)[:5]}")

    def note(self, what: str) -> None:
        if self.trace is not None:
            self.trace.append(f"{self.now:9.1f} {what}")

    # What hosts ask for.

    def has_room(self, host: Host) -> bool:
        rate = self.plan.no_room_rate
        if self._is_healed or not rate or self._draw() >= rate:
            return True
        self.counts["terms given up"] += 1
        return False

    def send(self, sender: int, to: int, message: Message, chunk: Chunk) -> None:
        if self.trace is not None:
            self.note(f"{sender} -> {to} {message} {chunk.values}")
        if (sender, to) in self._cuts:
            self.counts["messages cut off"] += 1
            return
        if self.plan.is_encoded:
            message = _through_bytes(message)
        plan, draw = self.plan, self._draw
        if not self._is_healed:
            if plan.loss and draw() < plan.loss:
                self.counts["messages lost"] += 1
                return
            if plan.duplication and draw() < plan.duplication:
                self.counts["messages doubled"] += 1
                self.after(4 * plan.latency_ms * draw(), self._arrive, sender, to, message, chunk)
            if plan.straggler_rate and draw() < plan.straggler_rate:
                self.counts["messages late"] += 1
                self.after(2000 * draw(), self._arrive, sender, to, message, chunk)
                return
            latency = plan.latency_ms * draw()
        else:
            latency = 1 + 4 * draw()
        if plan.is_ordered or self._is_healed:
            # As on one connection: nothing overtakes.
            at = max(self.now + latency, self._arrivals.get((sender, to), 0.0) + 0.001)
            self._arrivals[sender, to] = at
            latency = at - self.now
        self.after(latency, self._arrive, sender, to, message, chunk)

    def _arrive(self, sender: int, to: int, message: Message, chunk: Chunk) -> None:
        self.hosts[to].deliver(sender, message, chunk)

    def begin_save(self, host: Host, done: Callable[[], None]) -> None:
        delay = self._disk_delay(host, self.plan.save_ms)
        if delay < 1.0:
            done()
        else:
            self.after(delay, self._save_done, host, host.life, done)

    def _disk_delay(self, host: Host, most_ms: float) -> float:
        delay = most_ms * self._draw()
        return min(delay * self._slow[host.number], 2000.0) if host.number in self._slow else delay

    def _save_done(self, host: Host, life: int, done: Callable[[], None]) -> None:
        if not host.is_up or host.life != life:
            return
        if host.is_paused:
            self.after(100.0, self._save_done, host, life, done)
            return
        done()
        host.after_save()

    def begin_sync(self, host: Host) -> None:
        delay = self._disk_delay(host, self.plan.sync_ms)
        self.after(delay, self._sync_done, host, host.life, host.log.end, host.log.life)

    def _sync_done(self, host: Host, life: int, end: int, log_life: int) -> None:
        if host.is_up and host.life == life:
            host.sync_done(end, log_life)

    def arm(self, host: Host) -> None:
        at = (host.core.deadline_ms - host.clock_offset) / host.clock_rate + 0.01
        if at < host.timer and at < 1e15:
            host.timer = at = max(at, self.now + 0.01)
            self.after(at - self.now, self._tick, host, host.life, at)

    def _tick(self, host: Host, life: int, at: float) -> None:
        if host.life == life and host.timer == at:
            host.timer = float("inf")
            host.tick()

    def record_size(self) -> int:
        return 20 + int(self._draw() * (RECORD_BYTES_MAX - 20))

    def acknowledged(self, host: Host) -> None:
        """Whoever else believes that it leads is asked at once."""
        for other in self.hosts.values():
            if other is not host and other.is_up and other.core.leading is not None:
                other.read()

    # Clients.

    def _client(self) -> None:
        draw = self._draw
        is_calm = self._is_healed
        if not is_calm or len(self.judge.acked) < self._acked_before_heal + ACKS_AFTER_HEAL:
            for host in self.hosts.values():
                # More than one may believe that it leads.
                if len(host.pending) < self.plan.pending_max and draw() < 0.9:
                    host.submit(1 + int(draw() * self.plan.batch_max))
        for host in self.hosts.values():
            if host.is_up and host.core.leading is not None:
                host.read()
                if draw() < 0.3:
                    host.ask()
        self.after(2 * self.plan.client_ms * draw(), self._client)

    # Faults.

    def _fault(self) -> None:
        if self._is_healed:
            return
        faults = self.plan.faults
        name = faults[int(self._draw() * len(faults))]
        self.note(f"fault: {name}")
        if _FAULTS[name](self):
            self.counts[name] += 1
        self.after(2 * self.plan.fault_ms * self._draw(), self._fault)

    def _length(self) -> float:
        return 2 * self.plan.fault_length_ms * self._draw()

    def _any_host(self) -> Host:
        return self.hosts[self._numbers[int(self._draw() * len(self._numbers))]]

    def _victim(self) -> Host:
        """Half of the time a leader."""
        if self._draw() < 0.5:
            for host in self.hosts.values():
                if host.is_up and host.core.leading is not None:
                    return host
        return self._any_host()

    def _kill(self) -> bool:
        host = self._victim()
        if not host.is_up:
            return False
        self._stop(host)
        return True

    def _stop(self, host: Host) -> None:
        if self.trace is not None:
            self.note(f"stop {host.number}")
        host.stop(is_saved=self._draw() < 0.5)
        self.after(self._length(), self._start, host)
        for other in self.hosts.values():
            if other is not host and self._draw() < 0.5:
                self.after(self.plan.latency_ms * self._draw(), self._tell_end, other, host)

    def _tell_end(self, host: Host, ended: Host) -> None:
        """A host finds that nobody listens where another one was."""
        if not ended.is_up and host.is_listening:
            host.note_end(ended.number)
            self.counts["ends noticed"] += 1

    def _start(self, host: Host) -> None:
        if not host.is_up:
            if self.trace is not None:
                self.note(f"start {host.number}")
            host.start()

    def _power_cut(self) -> bool:
        host = self._victim()
        return self._cut_power(host)

    def _cut_power(self, host: Host) -> bool:
        if not host.is_up:
            return False
        self._stop(host)
        unsynced = host.log.unsynced_count()
        kept = int(self._draw() * (unsynced + 1))
        self.counts["records lost by power cuts"] += unsynced - kept
        host.log.lose(kept)
        return True

    def _power_cut_of_all(self) -> bool:
        were_up = [self._cut_power(host) for host in self.hosts.values()]
        return any(were_up)

    def _pause(self) -> bool:
        host = self._victim()
        if not host.is_up or host.is_paused:
            return False
        host.pause()
        self.after(self._length(), self._resume, host, host.life)
        return True

    def _resume(self, host: Host, life: int) -> None:
        if host.is_up and host.life == life and host.is_paused:
            host.resume()

    def _partition(self) -> bool:
        side = {number for number in self._numbers if self._draw() < 0.5}
        return self._cut(
            {(a, b) for a in self._numbers for b in self._numbers if (a in side) != (b in side)}
        )

    def _one_way_cut(self) -> bool:
        victim = self._victim().number
        others = [number for number in self._numbers if number != victim and self._draw() < 0.7]
        if self._draw() < 0.5:
            return self._cut({(victim, other) for other in others})
        return self._cut({(other, victim) for other in others})

    def _isolated_leader(self) -> bool:
        victim = self._victim().number
        pairs = {(victim, other) for other in self._numbers if other != victim}
        return self._cut(pairs | {(b, a) for a, b in pairs})

    def _cut(self, pairs: set[tuple[int, int]]) -> bool:
        if not pairs:
            return False
        self._cuts |= pairs
        self.after(self._length(), self._join, pairs)
        return True

    def _join(self, pairs: set[tuple[int, int]]) -> None:
        self._cuts -= pairs

    def _slow_disk(self) -> bool:
        number = self._victim().number
        self._slow[number] = 10 + 90 * self._draw()
        self.after(self._length(), self._speed_up, number)
        return True

    def _speed_up(self, number: int) -> None:
        self._slow.pop(number, None)

    def _transfer(self) -> bool:
        target = self._any_host().number
        refusals = [
            host.command(partial(Node.transfer, target=target, now_ms=host.now_ms()))
            for host in self._leaders()
        ]
        return "" in refusals

    def _departure(self) -> bool:
        """A planned stop: a leader hands over, serves on as a follower for a while, and ends; it is
        started again later."""
        for host in self._leaders():
            others = sorted(host.core.members.voters - {host.number})
            if not others:
                continue
            target = others[int(self._draw() * len(others))]
            order = partial(Node.transfer, target=target, now_ms=host.now_ms())
            if host.command(order) == "":
                self.after(self._length(), self._end_departure, host, host.life)
                return True
        return False

    def _end_departure(self, host: Host, life: int) -> None:
        if not self._is_healed and host.is_up and host.life == life:
            self._stop(host)

    def _leaders(self) -> list[Host]:
        return [
            host for host in self.hosts.values() if host.is_up and host.core.leading is not None
        ]

    def _change_members(self) -> bool:
        for host in self._leaders():
            change = self._drawn_change(host.core.members)
            if host.command(partial(Node.change_members, change=change)) == "":
                return True
        return False

    def _drawn_change(self, members: Members) -> Change:
        number = self._any_host().number
        if number not in members.nodes:
            return AddLearner(number, "")
        if number not in members.voters and self._draw() < 0.8:
            return Promote(number)
        return Remove(number)

    def _retention(self) -> bool:
        host = self._any_host()
        if not host.is_listening:
            return False
        count = host.log.count_to(min(host.core.log.commit, host.core.log.synced))
        if count == 0:
            return False
        start = host.log.ends[int(self._draw() * count)]
        if start <= host.log.start:
            return False
        host.log.start = start

        def forget(core: Node) -> str:
            core.log_starts_at(start)
            return ""

        host.command(forget)
        return True

    # The end.

    def _heal(self) -> None:
        self.note("heal")
        self._is_healed = True
        self._cuts.clear()
        self._slow.clear()
        for host in self.hosts.values():
            if not host.is_up:
                host.start()
            elif host.is_paused:
                host.resume()
        self._acked_before_heal = len(self.judge.acked)

    def _is_one_again(self) -> bool:
        judge = self.judge
        if len(judge.acked) < self._acked_before_heal + ACKS_AFTER_HEAL:
            return False
        leader = max(self._leaders(), key=lambda host: host.core.term, default=None)
        if leader is None:
            return False
        values = leader.log.values
        end = leader.log.end
        if judge.end != end:
            return False
        for number in leader.core.members.nodes:
            host = self.hosts[number]
            if host.log.values != values or host.log.synced != end or host.core.log.commit != end:
                return False
        return values == judge.values

    def _standing(self) -> str:
        return "; ".join(
            f"{host.number}: term {host.core.term} {host.core.role.value} end {host.log.end} synced"
            f" {host.log.synced} commit {host.core.log.commit} {host.core.members}"
            for host in self.hosts.values()
        )


def _through_bytes(message: Message) -> Message:
    """A message as the frames of a connection bring it."""
    reader = RaftFrameReader()
    body = bytes(message.end - message.start) if isinstance(message, Records) else b""
    reader.receive(encode_frame(message) + body)
    assert reader.advance()
    assert reader.message == message
    assert not isinstance(reader.message, Hello)
    return reader.message


_FAULTS: dict[str, Callable[[World], bool]] = {
    "kill": World._kill,
    "power cut": World._power_cut,
    "power cut of all": World._power_cut_of_all,
    "pause": World._pause,
    "partition": World._partition,
    "one-way cut": World._one_way_cut,
    "isolated leader": World._isolated_leader,
    "slow disk": World._slow_disk,
    "transfer": World._transfer,
    "departure": World._departure,
    "change of members": World._change_members,
    "retention": World._retention,
}
