"""A broker that is a member of a Raft group (docs/decisions/0025-raft.md).

raft_side        the side of replication: node, links and state file, in one life of the broker
member_status    the group, as tools and monitoring are told
leader_requests  requests that only a leader serves: forwarded to it, or held while there is none
lease_gate       reads of a leader, as long as no other can lead
group_handlers   requests about the group: its terms, another leader, its members
controller_handlers  requests to RocketMQ's controller: what has a meaning in a group
member_changes   reasons against a change of members
preferred_leader leadership for the member that a person prefers
table_change     rows of tables as records of the log
table_rows       rows of a leader's tables, as their files have them
table_journal    a leader's changes ─▶ log
table_restoring  log ─▶ tables of a new leader
raft_assembly    puts the room together

A life is that of a leader or of a follower. A leader is a master to all other rooms, a follower a
slave: its log grows by the leader's records alone, and its tables are copies of the leader's. The
tables of a leader are what its log says of them.
"""
