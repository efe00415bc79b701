"""The replication room of the broker: the side that it is on, and what that side needs beside the
stream of the log (`aerobee.replication`).

master_side            sends the log, counts copies, refuses sends that too few copies would have
slave_side             finds the master, follows it
log_comparison         where a slave's log and its master's part
slave_requests         requests that a slave refuses
broker_suggestion      which broker a consumer should pull from
log_reading_handlers   READ_LOG
metadata               everything beside the log
"""
