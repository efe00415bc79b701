"""Static topics: serves requests about logical queues by physical queues of this and other brokers.

The broker that leads a logical queue serves requests about it. It translates them into requests
about physical queues, which run here or are forwarded to the brokers that had the queue before; a
forwarded request says that it is physical (`lo` is false). Physical requests and those of ordinary
topics pass unchanged. Static topics have no fast path.

    static_topic_handlers    UPDATE_AND_CREATE_STATIC_TOPIC
    logical_rows             rows of the request table, with the translation in front
    logical_pull, logical_offsets, logical_send    the translations
    forwarding               requests to other brokers
"""
