"""The gRPC messaging service in a process of its own, in front of brokers that it reaches over
remoting: RocketMQ's proxy in cluster mode.

    call ─▶ `service.proxy` ─▶ remote desk ─▶ request to a broker ─▶ answer ─▶ answer of the call

What a call means is decided in `service.proxy`, for this process as for one in the broker. Here is
only the other side of its desk: name servers say where brokers are and which queues a topic has,
brokers say how topics and groups are configured, and every request goes to the broker that holds
what it is about. To brokers the whole process is one client, which produces and consumes for all of
its own.
"""
