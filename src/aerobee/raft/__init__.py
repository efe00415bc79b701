"""Raft over a commit log: brokers that agree on one log, and go on when a minority is gone.

node                            one member: messages and time in, work for its host out
election                        votes
leader, progress, quorum        sends the log to followers, decides what is committed
follower                        fetches, appends what fits, cuts what a new leader does not have
lease                           reads by a leader that knows that there is no other
transfer                        hands leadership to another
membership                      voters and learners, changed one at a time
epochs, log_state, saved_state  who wrote which range; offsets; what is saved beside the log
messages, ready                 between nodes; between a node and its host
frames, epoch_bytes             messages and epochs as bytes
state_file                      the saved state on the disk
config                          times and sizes

The index of an entry is its byte offset in the commit log, whose bytes are those of every other
mode: no entry is wrapped, none has a term of its own. A table of epochs beside the log says which
term wrote which range. Followers fetch, as in Kafka's KRaft: the end and the last term of a log say
whether it is a prefix of the leader's.

The laws of Raft that hold over all of it:

R1. A term has at most one leader.
R2. A leader only appends.
R3. Logs that have the same term at the same offset are the same up to there, byte by byte.
R4. What is committed is in the log of every later leader.
R5. What is committed at an offset is the same on every node, for ever.
R6. A read by lease shows everything that was committed before it was asked for.

The core does no I/O, reads no clock and draws no random number, so thousands of seeds can run it on
virtual time (tests/raft_sim).
"""
