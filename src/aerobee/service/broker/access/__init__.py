"""The broker's users and rules: the gate before its handlers, and the requests that manage them."""
