"""The shared parts of one running client: connections, routes, heartbeats, calls both ways."""
