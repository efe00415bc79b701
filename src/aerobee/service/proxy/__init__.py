"""RocketMQ's gRPC messaging service, in the process of the broker.

    call ─▶ checks ─▶ the broker's own handlers (`desk`) ─▶ answer of the call

The third door to the same rooms: a call becomes the request that a remoting client would send, as a
value, and is served by the same row of the request table. No rule of storing, popping or
transactions is here; only what the protocol adds: checks and codes of its own, the settings of
clients, renewal of receipts, and the ids by which transactions are named.
"""
