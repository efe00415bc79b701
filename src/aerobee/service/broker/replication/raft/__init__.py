"""A broker that is a member of a Raft group (docs/decisions/0025-raft.md).

raft_side        the side of replication: node, links and state file, in one life of the broker
member_status    the group, as tools and monitoring are told
leader_requests  requests that only a leader serves: forwarded to it, or held while there is none
group_handlers   requests about the group: its terms, another leader
preferred_leader leadership for the member that a person prefers
raft_assembly    puts the room together

A life is that of a leader or of a follower. A leader is a master to all other rooms, a follower a
slave: its log grows by the leader's records alone, and its tables are copies of the leader's.
"""
