"""Group membership: heartbeats, member lists, queue locks, offsets and queue assignment."""
