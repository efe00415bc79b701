"""The store of a single broker becomes that of a Raft group's first member, and the reverse
(docs/decisions/0025-raft.md).

store_facts   what a closed store is, and what it knows of a group
conversion    what is to be done with it, the reasons against it, and doing it

No byte of the log changes: what makes a store that of a member is one file beside the log.
"""
