"""Transfer: a leader hands its place to a voter of its choice.

    no new appends ─▶ the target's disk has the whole log ─▶ TimeoutNow ─▶ it stands for election

The leader appends nothing meanwhile and goes on if nothing comes of it in an election timeout. Once
TimeoutNow is sent the lease is given up for the rest of the term: the message may arrive late.
"""


class Transfer:
    __slots__ = ("deadline_ms", "is_sent", "target")

    def __init__(self, target: int, deadline_ms: int) -> None:
        self.target = target
        self.deadline_ms = deadline_ms
        self.is_sent = False
