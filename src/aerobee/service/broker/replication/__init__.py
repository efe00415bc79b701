"""The replication room of the broker: a slave's comparison with its master, the copying of tables,
requests about replicas, and changes of role. The stream of the log itself is `aerobee.replication`.
"""
