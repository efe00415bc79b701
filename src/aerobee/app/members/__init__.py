"""Members of a Raft group as processes of their own, which end with the one that started them."""
