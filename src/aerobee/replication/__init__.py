"""Replication of a commit log from a master to its slaves: RocketMQ's HA protocol, without I/O.

transfer                        the bytes of the HA stream, both directions
primary                         the master's side: sends the log to every slave
in_sync, log_growth             acknowledgements of slaves, copies of an offset, lag
replica, incoming_records       the slave's side: follows a master, appends what it sends
replicated_log                  the log, as both sides use it
config                          settings

Laws that hold over all of it:

R1. A replica's log is a byte prefix of its master's, from the replica's first file on: only whole
    records that were checked are appended, each at exactly the end of the log.
R2. An acknowledgement that cannot be true (negative, going back, beyond what was sent) ends its
    link and counts no more.
R3. A copy is counted once, however many connections a slave has left behind.
R4. A link that cannot be followed or served is closed with a reason; it never stays silently idle.

Everything is called from the thread of the service, with the time as an argument.
"""
