"""The nouns of the command line, in the order in which help shows them.

    noun   the module of `aerobee.cli` that has its verbs, and the line that help shows of it

A new noun takes a line here and an `add_to(nouns)` in its module.
"""

NOUNS = {
    "up": ("commands.up", "run a name server and a broker in one process, to try things out"),
    "console": ("commands.console", "the cluster in a browser: figures, topics, groups, messages"),
    "nameserver": ("commands.nameserver", "tell clients which broker has which topic"),
    "broker": ("commands.broker", "take messages, keep them, hand them out"),
    "proxy": ("commands.proxy", "serve clients of gRPC in front of any brokers"),
    "run": ("commands.run", "handle messages with the functions of an application"),
    "cluster": ("commands.cluster", "what there is in all, and whether it is well"),
    "topic": ("commands.topic", "topics: make, look at, change, delete"),
    "group": ("commands.group", "consumer groups: lag, members, offsets"),
    "offset": ("commands.offset", "where groups are in queues"),
    "message": ("commands.message", "messages: send, follow, find, send again"),
    "dlq": ("commands.dlq", "dead letters: what groups gave up"),
    "auth": ("commands.auth", "users, and what they may do"),
    "audit": ("commands.audit", "who was refused, and who changed what"),
    "tls": ("commands.tls", "certificates: make, look at, check"),
    "transaction": ("commands.transaction", "transactions that are open, ended by hand"),
    "capture": ("commands.capture", "changes of a database's rows as messages"),
    "pipeline": ("commands.pipeline", "jobs on Spark: list, describe, run"),
    "explain": ("commands.explain", "why a message was not consumed; what a group does"),
    "mqadmin": ("mqadmin.entry", "RocketMQ's own tool: its sub-commands, flags and columns"),
    "migrate": ("commands.migrate", "move a broker from RocketMQ to Aerobee while it runs"),
    "store": ("commands.store", "a store's files, while no broker has them"),
    "bench": ("commands.bench", "load tests: send, receive, time, plan"),
    "chaos": ("commands.chaos", "break a test cluster under load, and see what clients notice"),
    "doctor": (
        "commands.doctor",
        "find what is wrong with a machine, a cluster or a configuration",
    ),
    "config": ("commands.config", "settings: which there are, what they mean"),
    "context": ("commands.context", "clusters by name"),
    "completion": ("commands.completion", "have the shell complete commands"),
}
