"""The name server: who is alive, and which topic is where."""
