"""Acting masters: a slave does duties of its master while there is none
(`enableSlaveActingMaster`), until the master returns.

    slave ── no master, the smallest id, no link to a master ──▶ acting master
          ◀── a master is registered, or says that it returns ──
    master that starts ── isolated ──▶ slaves follow it, progress copied back ──▶ registered

Laws.
- Nothing is appended to the log of an acting master: it stays a prefix of its master's.
- A message that an acting master has to put goes to another master of the cluster, or waits. Its
  progress is saved when the other master has acknowledged the message.
- A change between slave and acting master, and the end of a master's isolation, is another life of
  the broker (`Rebuild`): its features begin with what is saved.

member_group           the live ids of this broker's name, from name servers
acting_watch           when a slave begins to act
side_choice            the side of replication of a role and stage
acting_side            the side of replication of an acting master, and when it ends
escaped_form           a message that the broker puts ─▶ the send to another master
acting_assembly        what a broker of a role and stage has of all this
escaped_puts           puts into the logs of other masters, in the order of their acknowledgements
master_return          the isolation of a master that starts
returned_progress      offsets and checkpoints of an acting master ─▶ its master's tables
"""
