"""POP consumption: members of a group take messages of any queue and acknowledge each one.

    pop ─▶ checkpoint into the log ─▶ answer      ack ─▶ acknowledgement into the log ─▶ answer
             │ through the timer                           │ through the timer
             ▼                                             ▼
           revive queue ◀──────────────────────────────────┘
             │ when the invisible time is over: messages without an acknowledgement
             ▼
           the group's retry topic, or its dead letters

Laws.
- Nothing is kept in memory alone. Every pop has its checkpoint in the log before it is answered,
  every acknowledgement its record; those of one read for one checkpoint share a record, which
  makes them cheap. Both have fast paths (`fast_pop`, `fast_ack`).
- After a crash the saved consumer offset never passes a checkpoint that the crash lost: it is
  committed when the log is on the disk beyond the checkpoint (`pop_offsets`).
- Nor does it stay behind a checkpoint that is in the log: a start raises offsets to those in the
  checkpoints (`offset_catch_up`), so that a killed process hands out nothing a second time.
- An acknowledgement is answered when its record is as safe as the flush mode promises. So a message
  whose acknowledgement was answered comes back only if a power cut takes unsynced records.
- A message that was not acknowledged comes back at least once; the revive offset is saved when the
  copies are on the disk (`revive_queue`).
- A message that came back as often as its group allows becomes a dead letter, as with pulls.
  Apache's broker leaves that to its clients and repeats for ever if they do not.

Ordered pops have no checkpoint: the offset stays at the first message that is not acknowledged.
"""
