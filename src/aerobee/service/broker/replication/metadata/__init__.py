"""Replication of everything beside the log: a slave copies its master's tables and state files.

    master: requests of RocketMQ, and COPY_BROKER_STATE (ours)
       │ at the start of following, every 3 s, or when topics or groups have changed
       ▼
    metadata_round ─▶ snapshot, held until this slave's log has reached the master's end of then
       │
       ▼
    snapshot_applying ─▶ live tables: topics, groups, modes, offsets     copied_files ─▶ config/*

Laws.
- Nothing of a round that was not answered as a whole is applied, and nothing that is older than
  what this slave has from its master already.
- No copied progress (delay offsets, timer checkpoint, offsets, …) speaks of records that are not on
  this slave's disk: the end of the master's log is asked for last, and waited for.
- A commit that a consumer made at this slave is not lost: the master gets it (`offset_hand_back`).

metadata_copy          when to ask, and when to apply
metadata_round         the questions of one round, and the snapshot in their answers
table_copy             topics and groups in pages; state files in pieces: `service.file_copy`
snapshot_applying      a snapshot ─▶ tables, files, deleted topics
copied_offsets         the rule by which offsets of master and slave are merged
copied_files           state files, replaced in the background
own_progress           state files of this broker's own time as master, fitted to its log
slave_state            `config/slaveState.json`: copied versions, commits made here
offset_hand_back       commits made here ─▶ master
state_files            names and paths of state files, the order of reading and writing them
broker_state_handlers  COPY_BROKER_STATE, at the master
access_copy            users and rules, which wait for no log
"""
