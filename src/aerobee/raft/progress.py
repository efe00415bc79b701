"""Progress: a leader's knowledge of one other member: its log, and when it answered last.

    0 ────────── synced ────────── next ────────── end of the leader's log
      on its disk       sent to it      not sent

P1. `synced` is what a fetch has claimed whose log the leader has found to be a prefix of its own.
P2. next - synced is at most the window and one record: a slow member costs its leader no memory.
"""

NEVER = -(1 << 62)
"""Before every stamp."""


class Progress:
    __slots__ = ("commit_sent", "echo_ms", "is_agreed", "next", "sent_ms", "synced")

    def __init__(self, next_offset: int) -> None:
        self.next = next_offset
        self.synced = 0
        # Whether its log is known to be a prefix of the leader's up to `next`.
        self.is_agreed = False
        self.echo_ms = NEVER
        # When something was sent to it last, and the commit offset that it had.
        self.sent_ms = NEVER
        self.commit_sent = 0

    def agree(self, end: int, synced: int, is_rewind: bool) -> bool:
        """Take a fetch from a log that is a prefix of the leader's; whether `synced` has risen."""
        if is_rewind or not self.is_agreed:
            self.next = end
            self.is_agreed = True
        if synced <= self.synced:
            return False
        self.synced = synced
        if self.next < synced:
            self.next = synced
        return True

    def disagree(self) -> None:
        """Its log is no prefix: nothing is sent until it is."""
        self.is_agreed = False
