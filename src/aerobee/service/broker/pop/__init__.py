"""POP: consumption by acknowledgement, message by message, with nobody owning a queue.

    pop ─▶ checkpoint into the log ─▶ answer      ack ─▶ acknowledgement into the log ─▶ answer
             │ through the timer                           │ through the timer
             ▼                                             ▼
           revive queue ◀──────────────────────────────────┘
             │ when the messages' time is over: what has no acknowledgement
             ▼
           the group's retry topic, or its dead letters

Laws.
- Nothing is kept in memory alone. Every pop has its checkpoint in the log before it is answered,
  every acknowledgement its record; those of one read for one checkpoint share a record, which is
  what makes them cheap. Both have short ways (`plain_pop`, `plain_ack`).
- The consumer offset that a crash can leave behind never passes a checkpoint that the same crash
  can take: it is committed when the log is on the disk beyond the checkpoint (`pop_offsets`).
- Nor does it stay behind one that is there: a start raises offsets to what the checkpoints in the
  log say (`catch_up`), so that a killed process hands out nothing a second time.
- An acknowledgement is answered when its record is as safe as the flush mode promises. So a message
  whose acknowledgement was answered comes back only where a power cut takes unsynced records.
- A message comes back at least once if it was not acknowledged; how far this has come is saved when
  the copies are on the disk (`revive`).
- A message that came back as often as its group allows is a dead letter, as with pulls. Apache's
  broker leaves that to its clients and repeats for ever if they do not.

Ordered pops have no checkpoint: the offset waits at the first message that is not acknowledged.
"""
