"""Mistakes of Raft that were made elsewhere, or are easily made: each a change of a few characters
in the source of the core.

The core is imported once more with the change in it, beside the sound one, together with the
simulation over it; nothing that ships knows of mistakes. Each names the story or the seeds that
must notice it. A change whose place is no longer in the source is an error: the bank cannot rot.

Longer than 500 lines because it is a list of them.
"""

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import aerobee.raft

_SOURCE = Path(aerobee.raft.__file__).parent
_WORLDS = ("aerobee.raft", "tests.raft_sim")
SEEDS = "seeds"
SEEDS_MAX = 120
"""Seeds that are run at most until one of them notices a mistake."""


class Mutant(NamedTuple):
    name: str
    module: str
    sound: str
    wrong: str
    caught_by: str
    """The name of a story, or SEEDS."""


class Worlds(NamedTuple):
    """The simulation over a core with a mistake."""

    runner: ModuleType
    stories: ModuleType


class _Loader(SourceLoader):
    def __init__(self, path: Path, source: str) -> None:
        self._path = path
        self._source = source

    def get_filename(self, fullname: str) -> str:
        return f"{self._path}.wrong"

    def get_data(self, path: str) -> bytes:
        return self._source.encode()


class _Finder(MetaPathFinder):
    def __init__(self, mutant: Mutant) -> None:
        path = _SOURCE / f"{mutant.module}.py"
        source = path.read_text("utf-8")
        if source.count(mutant.sound) != 1:
            raise ValueError(f"{mutant.name}: not once in {path.name}: {mutant.sound!r}")
        self._name = f"aerobee.raft.{mutant.module}"
        self._loader = _Loader(path, source.replace(mutant.sound, mutant.wrong))

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        return spec_from_loader(fullname, self._loader) if fullname == self._name else None


@contextmanager
def planted(mutant: Mutant) -> Iterator[Worlds]:
    """The worlds with the mistake in the core."""
    sound = _taken_out()
    finder = _Finder(mutant)
    sys.meta_path.insert(0, finder)
    try:
        yield Worlds(
            importlib.import_module("tests.raft_sim.runner"),
            importlib.import_module("tests.raft_sim.stories"),
        )
    finally:
        sys.meta_path.remove(finder)
        _taken_out()
        sys.modules.update(sound)


def _taken_out() -> dict[str, ModuleType]:
    found = {
        name: module
        for name, module in sys.modules.items()
        if name.startswith(_WORLDS) and name != __name__
    }
    for name in found:
        del sys.modules[name]
    return found


MUTANTS = [
    # The table of reliability.md: what was seen in DLedger, NATS and the Raft paper.
    Mutant(
        "vote not durable",
        "node",
        "            self._vote = sender\n            self._is_save_due = True\n",
        "            self._vote = sender\n",
        "double_vote_after_power_cut",
    ),
    Mutant(
        "acknowledged before it is synced",
        "follower",
        "return Fetch(term, log.end, log.last_term, log.synced,",
        "return Fetch(term, log.end, log.last_term, log.end,",
        "power_cut_of_followers",
    ),
    Mutant(
        "acknowledged when appended",
        "leader",
        "copied = reached_by(map(self._synced_of, members.voters), members.quorum)",
        "copied = log.end",
        SEEDS,
    ),
    Mutant(
        "old term committed by count",
        "leader",
        "if copied > self._term_start:",
        "if copied > 0:",
        "figure_eight",
    ),
    Mutant(
        "vote for a shorter log",
        "log_state",
        "return last_term > own or (last_term == own and end >= self.end)",
        "return last_term >= own",
        "lagging_candidate",
    ),
    Mutant(
        "vote for a longer log of an older term",
        "log_state",
        "return last_term > own or (last_term == own and end >= self.end)",
        "return end >= self.end",
        "lagging_candidate_of_a_late_term",
    ),
    Mutant(
        "term before records not compared",
        "follower",
        "if records.start != log.end or records.previous_term != log.last_term:",
        "if records.start != log.end:",
        "logs_of_equal_length",
    ),
    Mutant(
        "conflict not cut",
        "leader",
        "        elif agreed.term != fetch.last_term or agreed.end < fetch.end:\n",
        "        elif agreed.end < 0:\n",
        "diverged_tails_are_cut",
    ),
    Mutant(
        "cut without a conflict",
        "follower",
        "        if (diverging.end, diverging.last_term) != (log.end, log.last_term):\n",
        "        if log.end < 0:\n",
        "doubled_divergence",
    ),
    Mutant(
        "log counted that is longer than the leader's",
        "leader",
        "elif agreed.term != fetch.last_term or agreed.end < fetch.end:",
        "elif agreed.term != fetch.last_term:",
        SEEDS,
    ),
    # The rest of the bank of reliability.md.
    Mutant(
        "no PreVote",
        "node",
        "        self._candidacy = Candidacy(self.node, is_asking=True)\n",
        "        self._stand_for_election(is_transfer=False)\n        return\n",
        "returning_node",
    ),
    Mutant(
        "lease on another clock",
        "follower",
        "self._echo_ms = max(self._echo_ms, records.stamp)",
        "self._echo_ms = now_ms",
        "clocks_of_different_times",
    ),
    Mutant(
        "leader serves after a pause",
        "node",
        "return self._leading.read_offset(max(now_ms, self._now_ms))",
        "return self._leading.read_offset(self._now_ms)",
        "deposed_leader",
    ),
    Mutant(
        "learner counted",
        "leader",
        "reached_by(map(self._synced_of, members.voters)",
        "reached_by(map(self._synced_of, members.nodes)",
        "learners_do_not_count",
    ),
    Mutant(
        "two changes at once",
        "leader",
        "if log.commit <= log.epochs.last_start:",
        "if log.commit < 0:",
        "changes_of_two_leaders",
    ),
    Mutant(
        "reset not durable",
        "node",
        "                self._reset = first.start\n                self._is_save_due = True\n",
        "                self._reset = first.start\n",
        "restart_behind_a_reset",
    ),
    Mutant(
        "shown before it is committed",
        "follower",
        "log.note_commit(min(records.commit, log.end))",
        "log.note_commit(log.end)",
        SEEDS,
    ),
    # Terms and votes.
    Mutant(
        "term not durable",
        "node",
        "        self._vote = None\n        self._is_save_due = True\n",
        "        self._vote = None\n",
        SEEDS,
    ),
    Mutant(
        "two votes in a term",
        "node",
        "is_granted = self._vote in (None, sender) and",
        "is_granted =",
        "double_vote_after_power_cut",
    ),
    Mutant(
        "vote kept over terms",
        "node",
        "        self.term = term\n        self._vote = None\n",
        "        self.term = term\n",
        SEEDS,
    ),
    Mutant(
        "half is a majority",
        "membership",
        "self.quorum = len(self.voters) // 2 + 1",
        "self.quorum = (len(self.voters) + 1) // 2",
        SEEDS,
    ),
    Mutant(
        "stale term obeyed",
        "node",
        "        elif message.term < self.term:\n",
        "        elif message.term < 0:\n",
        SEEDS,
    ),
    Mutant(
        "votes of everybody counted",
        "election",
        "return len(self._votes & members.voters) >= members.quorum",
        "return len(self._votes) >= members.quorum",
        "learner_votes",
    ),
    # Leases.
    Mutant(
        "vote within a lease",
        "node",
        "if isinstance(message, Vote) and not message.is_transfer and self._hears_leader():",
        "if isinstance(message, Vote) and message.term > self.term and self._hears_leader():",
        "vote_within_a_lease",
    ),
    Mutant(
        "PreVote within a lease",
        "node",
        "            and not self._hears_leader()\n",
        "",
        "asked_by_the_impatient",
    ),
    Mutant(
        "promise forgotten by a restart",
        "node",
        "self._heard_ms = now_ms if saved.term > 0 else NEVER",
        "self._heard_ms = NEVER",
        "forgotten_promise",
    ),
    Mutant(
        "lease kept in a transfer",
        "leader",
        "                self.lease.give_up()\n",
        "",
        "late_transfer",
    ),
    Mutant(
        "lease without drift",
        "config",
        "return self.election_timeout_ms * slowest // fastest - 2",
        "return self.election_timeout_ms",
        "slow_clock_of_a_leader",
    ),
    Mutant(
        "read before the first commit of a term",
        "leader",
        "if not self.has_committed() or not self.lease.is_held(now_ms):",
        "if not self.lease.is_held(now_ms):",
        "read_before_the_first_commit",
    ),
    Mutant(
        "leader without a majority stays",
        "lease",
        "return now_ms - since_ms >= self._config.election_timeout_ms",
        "return since_ms < -now_ms",
        "leader_without_majority",
    ),
    Mutant(
        "answers without an echo hold up a leader",
        "leader",
        "        if progress.echo_ms < fetch.echo <= now_ms:\n"
        "            progress.echo_ms = fetch.echo\n",
        "        if True:\n            progress.echo_ms = now_ms\n",
        "leader_that_is_not_heard",
    ),
    # Logs and epochs.
    Mutant(
        "leader's own copy counted before its sync",
        "leader",
        "return self._log.synced if node == self._node",
        "return self._log.end if node == self._node",
        "unsynced_leader",
    ),
    Mutant(
        "epochs of lost records believed",
        "node",
        "self._is_save_due = self.log.epochs.cut(self.log.end)",
        "self._is_save_due = False",
        "epochs_of_lost_records",
    ),
    Mutant(
        "epoch of a follower not saved",
        "node",
        "            self._is_save_due |= len(self.log.epochs.entries) != count\n",
        "",
        SEEDS,
    ),
    Mutant(
        "epoch of a leader not saved",
        "node",
        "        self._control = Control(*epoch)\n        self._is_save_due = True\n",
        "        self._control = Control(*epoch)\n",
        SEEDS,
    ),
    Mutant(
        "cut to the leader's end only",
        "follower",
        "return min(own.end, diverging.epoch_end)",
        "return own.end",
        "diverged_tails_are_cut",
    ),
    Mutant(
        "cut back to what is known to be committed",
        "follower",
        "return min(own.end, diverging.epoch_end)",
        "return log.commit",
        SEEDS,
    ),
    Mutant(
        "late reset obeyed",
        "follower",
        "        if (reset.end, reset.last_term) != (log.end, log.last_term):\n",
        "        if log.end < 0:\n",
        "begin_behind_retention",
    ),
    Mutant(
        "commit believed of a log that does not match",
        "follower",
        "            self._ask_again(records, now_ms)\n",
        "            self._ask_again(records, now_ms)\n"
        "            log.note_commit(min(records.commit, log.end))\n",
        SEEDS,
    ),
    Mutant(
        "members not taken from the log",
        "leader",
        "        members = self._log.epochs.members\n        for node in list",
        "        members = self._log.epochs.entries[0].members\n        for node in list",
        SEEDS,
    ),
    # Leading.
    Mutant(
        "window ignored",
        "leader",
        "room = progress.synced + config.window_bytes - start",
        "room = config.window_bytes",
        SEEDS,
    ),
    Mutant(
        "lost records not sent again",
        "progress",
        "if is_rewind or not self.is_agreed:",
        "if not self.is_agreed:",
        "lost_records_are_sent_again",
    ),
    Mutant(
        "promise to a leader dropped when another node ends",
        "node",
        "        if self._following is None or self._following.leader != leader:\n"
        "            return\n"
        "        self._following = None\n",
        "        if self._following is None:\n            return\n        self._following = None\n",
        "end_of_a_follower",
    ),
    Mutant(
        "end of a leader not noticed",
        "node",
        "        self._following = None\n        self._heard_ms = NEVER\n",
        "        return\n",
        "end_of_a_leader",
    ),
    Mutant(
        "votes split after the end of a leader",
        "node",
        "wait_ms = self._config.heartbeat_ms // 10 + before * self._config.heartbeat_ms",
        "wait_ms = self._config.heartbeat_ms // 10",
        "end_of_a_leader",
    ),
    Mutant(
        "transfer to a node that lacks records",
        "leader",
        "if target is not None and target.synced >= self._log.end:",
        "if target is not None:",
        "transfer",
    ),
    Mutant(
        "appends during a transfer",
        "node",
        "return self._leading is not None and self._leading.transfer is None",
        "return self._leading is not None",
        "transfer",
    ),
    Mutant(
        "removed leader stays",
        "leader",
        "return self._node not in log.epochs.members.voters and",
        "return self._node < 0 and",
        "removed_leader",
    ),
    Mutant(
        "removed node never stands for election",
        "node",
        "return self.log.epochs.has_voted_since(self.node, self.log.commit)",
        "return self.node in self.members.voters",
        "removal_on_the_removed_alone",
    ),
    Mutant(
        "learner stands for election",
        "node",
        "        if not self._may_stand():\n            self._deadline_ms",
        "        if self.node < 0:\n            self._deadline_ms",
        "learner_candidate",
    ),
    Mutant(
        "no election after stepping down",
        "node",
        "        if self._leading is not None or self._candidacy is not None:\n"
        "            self._arm()\n",
        "        if self._leading is not None or self._candidacy is not None:\n"
        "            self._deadline_ms = NO_DEADLINE\n",
        "stepped_down_leader_stands_again",
    ),
    Mutant(
        "follower that heard of a commit late",
        "leader",
        "has_news = progress.is_agreed and progress.commit_sent < self._log.commit",
        "has_news = False",
        "commit_is_told_at_once",
    ),
    Mutant(
        "records without room for them",
        "follower",
        "has_records = records.end > records.start and not is_full",
        "has_records = records.end > records.start",
        "follower_without_room",
    ),
    Mutant(
        "silence for lack of room",
        "follower",
        "            if is_full:\n                self.is_fetch_due = True\n            else:\n",
        "            if not is_full:\n",
        "follower_without_room",
    ),
    Mutant(
        "epoch of a term that was given up",
        "node",
        "not self.log.epochs.cut(self.log.end)",
        "self.log.epochs.last_start < self.log.end",
        "term_without_room",
    ),
    Mutant(
        "term given up that is not saved",
        "node",
        "        self._is_save_due = True\n        self._step_down()\n\n    def leader_ended",
        "        self._step_down()\n\n    def leader_ended",
        "term_without_room",
    ),
    Mutant(
        "leader without its record",
        "node",
        "        self._is_save_due = True\n        self._step_down()\n\n    def leader_ended",
        "        self._is_save_due = True\n\n    def leader_ended",
        "change_without_room",
    ),
    Mutant(
        "candidate without room",
        "node",
        "        if self.is_barred:\n            return\n",
        "",
        "barred_candidate",
    ),
    Mutant(
        "candidate by wish without room",
        "node",
        "if self._may_stand() and not self.is_barred:",
        "if self._may_stand():",
        "barred_candidate",
    ),
    Mutant(
        "heartbeat without an answer",
        "follower",
        "elif is_full or records.stamp - self._told_ms >= self._config.answer_interval_ms:",
        "elif is_full:",
        "asked_by_the_impatient",
    ),
]
